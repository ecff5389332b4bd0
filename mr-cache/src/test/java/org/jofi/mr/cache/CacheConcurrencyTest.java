package org.jofi.mr.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.ControlRegistration;
import org.jofi.mr.RegisteredArena;
import org.jofi.mr.recording.Device;
import org.jofi.mr.recording.MultiRail;
import org.jofi.mr.recording.RecordingFabric.Profile;
import org.jofi.mr.recording.RecordingFabric.Step;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationBusyException;
import org.jofi.mr.registration.RegistrationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who waits for whom, and who does not. */
@Timeout(120)
public class CacheConcurrencyTest {
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
      assertTrue(latch.await(60, TimeUnit.SECONDS));
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
    device.registrations.evictIdle();
    device.registrations.invalidate(MemoryKind.HOST, 0, OTHER.address(), 1);
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
    assertEquals(1, device.registrations.statistics().misses());
    assertEquals(2, device.registrations.statistics().hits());
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
            () -> device.registrations.invalidate(MemoryKind.HOST, 0, SLOW.address() + 8191, 1),
            threads);
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
        () -> device.registrations.invalidate(MemoryKind.HOST, 0, SLOW.address(), 1));
    goOn.countDown();
    assertTrue(slow.get().isOpen());
  }

  /** Runs something on a thread of its own until that is done, or waits. */
  private static FutureTask<Void> startUntilItWaits(Runnable what) {
    FutureTask<Void> task = new FutureTask<>(what, null);
    Thread thread = Thread.ofPlatform().start(task);
    while (EnumSet.of(Thread.State.NEW, Thread.State.RUNNABLE).contains(thread.getState())) {
      LockSupport.parkNanos(100_000);
    }
    return task;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aLastReleaseDuringARefusedInvalidationCounts(boolean known) throws Exception {
    BufferRange range = BufferRange.host(0x30_0000, 4096).ofAllocation(known ? 3 : 0);
    CachedRegistration released = (CachedRegistration) acquire(range);
    DataRegistration busy = acquire(SLOW);
    assertTrue(busy.beginUse());
    List<FutureTask<Void>> releases = new ArrayList<>();
    // Under the lock, as an invalidation that finds one of its registrations in use.
    device.whenRefused =
        () -> {
          assertTrue(released.closeIfUnused());
          releases.add(startUntilItWaits(released::release));
          released.reopen();
        };
    assertThrows(
        RegistrationBusyException.class,
        () -> device.registrations.invalidate(MemoryKind.HOST, 0, SLOW.address(), 1));
    releases.getFirst().get();
    assertEquals(known, released.isOpen());
    if (!known) {
      assertNotSame(released, acquire(range), "its memory may have been freed since");
    }
    assertEquals(known ? 1 : 0, device.registrations.evictIdle());
    assertFalse(released.isOpen());
    busy.endUse();
    device.registrations.settle();
  }

  @Test
  void whatIsTriedAgainIsWaitedFor() throws Exception {
    acquire(SLOW).release();
    device.fabric.failNext(Step.CLOSE, 1, FabricErrno.EIO);
    assertThrows(FabricException.class, this::invalidateSlow);
    assertEquals(1, device.fabric.openRegions());
    List<FutureTask<Void>> others = new ArrayList<>();
    device.fabric.failNext(Step.CLOSE, 1, FabricErrno.EIO);
    device.fabric.onFailure =
        () ->
            others.add(
                startUntilItWaits(
                    () -> {
                      invalidateSlow();
                      assertEquals(0, device.fabric.openRegions(), "its memory may be freed now");
                    }));
    assertThrows(FabricException.class, this::invalidateSlow);
    others.getFirst().get();
  }

  private void invalidateSlow() {
    device.registrations.invalidate(MemoryKind.HOST, 0, SLOW.address(), 1);
  }

  @Test
  void whoFindsNoRoomWaitsForThoseWhoMakeIt() throws Exception {
    acquire(OTHER).release();
    device.fabric.duringNextClose =
        () -> {
          inProvider.countDown();
          await(goOn);
        };
    CompletableFuture<Integer> evicted =
        CompletableFuture.supplyAsync(device.registrations::evictIdle, threads);
    await(inProvider);
    device.fabric.failNext(Step.REGISTER, 0, FabricErrno.ENOMEM);
    FutureTask<Void> registered = startUntilItWaits(() -> assertTrue(acquire(SLOW).isOpen()));
    goOn.countDown();
    registered.get();
    assertEquals(1, evicted.get());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aTeardownWaitsForAMailboxUnderWay(boolean endpointScope) throws Exception {
    device.close();
    device = new Device(endpointScope ? Profile.CXI : Profile.EFA, 2, 1);
    device.fabric.duringNextRegistration =
        () -> {
          inProvider.countDown();
          await(goOn);
        };
    CompletableFuture<ControlRegistration> slow =
        CompletableFuture.supplyAsync(
            () -> device.rails.registrations.registerControl(SLOW, Access.REMOTE_WRITE), threads);
    await(inProvider);
    FutureTask<Void> closed = startUntilItWaits(device.rails.teardown::close);
    assertFalse(closed.isDone());
    goOn.countDown();
    closed.get();
    assertEquals(0, device.fabric.openRegions());
    slow.get().close();
  }

  @Test
  void anInterruptIsLeftForTheCallersCaller() throws Exception {
    CompletableFuture<DataRegistration> slow = registerSlowly();
    Thread.currentThread().interrupt();
    RegistrationException ended = assertThrows(RegistrationException.class, () -> acquire(SLOW));
    assertTrue(Thread.interrupted());
    assertTrue(ended.getCause() instanceof InterruptedException, ended::toString);
    goOn.countDown();
    slow.get();
  }

  @Test
  void aCloseThatGaveUpWaitingCanBeRepeated() throws Exception {
    device.close();
    device =
        new Device(
            Profile.EFA, 2, 1, new CacheLimits(8, 1 << 20, TimeUnit.MILLISECONDS.toNanos(20)));
    try (RegisteredArena arena = device.registrations.openArena()) {
      BufferRange range = BufferRange.host(arena.allocate(4096, 64));
      device.fabric.duringNextRegistration =
          () -> {
            inProvider.countDown();
            await(goOn);
          };
      CompletableFuture<DataRegistration> slow = acquireElsewhere(range);
      await(inProvider);
      assertThrows(RegistrationException.class, arena::close);
      assertThrows(RegistrationException.class, device.registrations::close);
      goOn.countDown();
      assertTrue(slow.get().isOpen(), "nothing was closed");
      assertTrue(
          acquire(BufferRange.host(arena.allocate(64))).isOpen(), "and it can be registered");
    }
  }
}
