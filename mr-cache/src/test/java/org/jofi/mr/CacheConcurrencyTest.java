package org.jofi.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.RecordingFabric.Profile;
import org.jofi.mr.RecordingFabric.Step;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who waits for whom, and who does not. */
@Timeout(30)
class CacheConcurrencyTest {
  private static final BufferRange SLOW = BufferRange.host(0x10_0000, 8192).ofAllocation(1);
  private static final BufferRange OTHER = BufferRange.host(0x20_0000, 8192).ofAllocation(2);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CountDownLatch inProvider = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private Device device = new Device(Profile.CXI_CLIENT_KEY, 2, 1);

  @AfterEach
  void nothingIsLeft() {
    goOn.countDown();
    threads.close();
    device.close();
  }

  /** Starts to register on another thread, which stays in the provider. */
  private CompletableFuture<DataRegistration> registerSlowly() throws InterruptedException {
    device.fabric.duringNextRegistration =
        () -> {
          inProvider.countDown();
          await(goOn);
        };
    CompletableFuture<DataRegistration> slow = acquireElsewhere(SLOW);
    await(inProvider);
    return slow;
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(20, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private CompletableFuture<DataRegistration> acquireElsewhere(BufferRange range) {
    return CompletableFuture.supplyAsync(() -> acquire(range), threads);
  }

  private DataRegistration acquire(BufferRange range) {
    return device.rails.registrations.acquire(range, Access.ALL);
  }

  @Test
  void hitsAndOtherMissesDoNotWaitForAMiss() throws Exception {
    DataRegistration known = acquire(OTHER);
    CompletableFuture<DataRegistration> slow = registerSlowly();
    assertSame(known, acquire(OTHER));
    DataRegistration neighbour = acquire(BufferRange.host(0x10_2000, 64).ofAllocation(1));
    known.release();
    device.cache().evictIdle();
    device.cache().invalidate(MemoryKind.HOST, 0, OTHER.address(), 1);
    assertFalse(slow.isDone());
    goOn.countDown();
    assertNotSame(neighbour, slow.get());
  }

  @Test
  void twoWhoMissTheSameRegisterOnce() throws Exception {
    CompletableFuture<DataRegistration> slow = registerSlowly();
    CompletableFuture<DataRegistration> same = acquireElsewhere(SLOW);
    CompletableFuture<DataRegistration> part =
        acquireElsewhere(BufferRange.host(SLOW.address() + 64, 64).ofAllocation(1));
    assertFalse(same.isDone() || part.isDone());
    goOn.countDown();
    assertSame(slow.get(), same.get());
    assertSame(slow.get(), part.get());
    assertEquals(2, device.fabric.calls(Step.REGISTER));
    assertEquals(1, device.cache().statistics().misses());
    assertEquals(2, device.cache().statistics().hits());
  }

  @Test
  void whoWaitedForAFailureTriesItself() throws Exception {
    device.fabric.failNext(Step.ENABLE, 0, FabricErrno.EINVAL);
    CompletableFuture<DataRegistration> slow = registerSlowly();
    CompletableFuture<DataRegistration> same = acquireElsewhere(SLOW);
    goOn.countDown();
    // Whichever of them met the failure, the other did not.
    int failed = 0;
    for (CompletableFuture<DataRegistration> each : List.of(slow, same)) {
      try {
        each.get();
      } catch (ExecutionException e) {
        assertInstanceOf(RegistrationException.class, e.getCause());
        failed++;
      }
    }
    assertEquals(1, failed);
  }

  @Test
  void invalidationWaitsForAMissUnderWay() throws Exception {
    CompletableFuture<DataRegistration> slow = registerSlowly();
    CompletableFuture<Void> invalidated =
        CompletableFuture.runAsync(
            () -> device.cache().invalidate(MemoryKind.HOST, 0, SLOW.address() + 8191, 1), threads);
    assertFalse(invalidated.isDone());
    goOn.countDown();
    invalidated.get();
    assertFalse(slow.get().isOpen());
    assertEquals(0, device.fabric.openRegions());
  }

  @Test
  void aClosingEndpointWaitsForAMissUnderWay() throws Exception {
    MultiRail other = new MultiRail("other", device.fabric, device.registrations, 2, 1);
    device.fabric.duringNextRegistration =
        () -> {
          inProvider.countDown();
          await(goOn);
        };
    CompletableFuture<DataRegistration> slow =
        CompletableFuture.supplyAsync(() -> other.registrations.acquire(SLOW, Access.ALL), threads);
    await(inProvider);
    CompletableFuture<Void> closed =
        CompletableFuture.runAsync(() -> other.teardown.close(), threads);
    assertFalse(closed.isDone());
    goOn.countDown();
    closed.get();
    assertFalse(slow.get().isOpen());
    assertFalse(slow.get().beginUse());
  }

  @Test
  void waitsAreBounded() throws Exception {
    device.close();
    device =
        new Device(
            Profile.EFA, 2, 1, new CacheLimits(8, 1 << 20, TimeUnit.MILLISECONDS.toNanos(20)));
    CompletableFuture<DataRegistration> slow = registerSlowly();
    RegistrationException late = assertThrows(RegistrationException.class, () -> acquire(SLOW));
    assertTrue(late.getMessage().contains("20 ms"), late::getMessage);
    assertThrows(
        RegistrationException.class,
        () -> device.cache().invalidate(MemoryKind.HOST, 0, SLOW.address(), 1));
    goOn.countDown();
    assertTrue(slow.get().isOpen());
  }
}
