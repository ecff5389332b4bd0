package org.jofi.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.mr.recording.Device;
import org.jofi.mr.recording.RecordingFabric.Profile;
import org.jofi.mr.recording.RecordingFabric.Step;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationBusyException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Memory and its registrations end together. */
class RegisteredArenaTest {
  /** One is enough, usually. */
  private static final int MOST_COLLECTIONS = 30;

  private Device device;
  private RegisteredArena arena;
  private MemorySegment segment;

  @BeforeEach
  void open() {
    device = new Device(Profile.TCP, 2, 1);
    arena = device.registrations.openArena();
    segment = arena.allocate(4096, 64);
  }

  @AfterEach
  void nothingIsLeft() {
    device.close();
  }

  private DataRegistration acquire(BufferRange range) {
    return device.rails.registrations.acquire(range, Access.ALL);
  }

  @Test
  void registrationsAreKeptWhileTheArenaLives() {
    DataRegistration whole = acquire(BufferRange.host(segment));
    whole.release();
    assertTrue(whole.isOpen());
    assertSame(whole, acquire(BufferRange.host(segment.asSlice(100, 200))));
    arena.close();
    assertFalse(whole.isOpen());
    assertEquals(0, device.fabric.openRegions());
    assertFalse(segment.scope().isAlive());
    whole.release();
    assertThrows(IllegalStateException.class, arena::close);
  }

  @Test
  void aCloseIsRefusedWhileRequestsAreInFlight() {
    DataRegistration used = acquire(BufferRange.host(segment));
    assertTrue(device.rails.post(used, used.range()));
    RegistrationBusyException busy = assertThrows(RegistrationBusyException.class, arena::close);
    assertTrue(busy.getMessage().contains("request 42"));
    assertTrue(segment.scope().isAlive());
    assertSame(used, acquire(BufferRange.host(segment)), "it can still be registered");
    device.rails.complete(0);
    arena.close();
  }

  @Test
  void memoryIsNotFreedUnderARegionThatStaysOpen() {
    acquire(BufferRange.host(segment)).release();
    device.fabric.failNext(Step.CLOSE, 0, FabricErrno.EIO);
    assertThrows(FabricException.class, arena::close);
    assertTrue(segment.scope().isAlive());
    BufferRange range = BufferRange.host(segment);
    assertThrows(IllegalStateException.class, () -> acquire(range));
    arena.close();
    assertFalse(segment.scope().isAlive());
  }

  @Test
  void aClosedArenasMemoryCannotBeRegistered() {
    BufferRange range = BufferRange.host(segment);
    arena.close();
    assertThrows(IllegalStateException.class, () -> acquire(range));
  }

  @Test
  void aSecondCloseTouchesNobodyElsesRegistrations() {
    BufferRange range = BufferRange.host(segment);
    arena.close();
    DataRegistration next = acquire(BufferRange.host(range.address(), 4096).ofAllocation(9));
    assertThrows(IllegalStateException.class, arena::close);
    assertTrue(next.isOpen());
  }

  @Test
  void anArenaClosesItsRegistrationsOnEveryDevice() {
    try (Device other = new Device(Profile.CXI, 1, 1)) {
      RegisteredArena both =
          new RegisteredArena(() -> List.of(device.registrations, other.registrations));
      BufferRange range = BufferRange.host(both.allocate(4096, 64));
      DataRegistration here = acquire(range);
      DataRegistration there = other.rails.registrations.acquire(range, Access.ALL);
      assertTrue(other.rails.post(there, range));
      RegistrationBusyException busy = assertThrows(RegistrationBusyException.class, both::close);
      assertTrue(busy.getMessage().contains("request 42"), busy::getMessage);
      assertTrue(both.scope().isAlive());
      other.rails.complete(0);
      here.release();
      acquire(range).release();
      both.close();
      assertEquals(0, device.fabric.openRegions() + other.fabric.openRegions());
      there.release();
    }
    arena.close();
  }

  /** Whoever registers while a close is being refused waits for that, and is served. */
  @Test
  void aRefusedCloseDisturbsNobody() throws Exception {
    DataRegistration used = acquire(BufferRange.host(segment));
    assertTrue(device.rails.post(used, used.range()));
    AtomicBoolean stop = new AtomicBoolean();
    CountDownLatch started = new CountDownLatch(1);
    FutureTask<Integer> others =
        new FutureTask<>(
            () -> {
              int times = 0;
              for (; !stop.get(); times++) {
                acquire(BufferRange.host(arena.allocate(64, 64))).release();
                started.countDown();
              }
              return times;
            });
    Thread.ofPlatform().start(others);
    assertTrue(started.await(60, TimeUnit.SECONDS));
    for (int i = 0; i < 200; i++) {
      assertThrows(RegistrationBusyException.class, arena::close);
    }
    stop.set(true);
    assertTrue(others.get(60, TimeUnit.SECONDS) > 0);
    device.rails.complete(0);
    used.release();
    arena.close();
    assertEquals(0, device.fabric.openRegions());
  }

  @Test
  void memoryOnTheHeapIsRefused() {
    assertThrows(
        IllegalArgumentException.class,
        () -> BufferRange.host(MemorySegment.ofArray(new byte[64])));
    arena.close();
  }

  /** Arenas of the JDK, of which jofi hears nothing. */
  @Test
  @SuppressWarnings("restricted")
  void whatAClosedArenaLeavesBehindIsNeverAHitAndIsClosed() {
    DataRegistration first;
    long address;
    try (Arena plain = Arena.ofConfined()) {
      MemorySegment memory = plain.allocate(4096);
      address = memory.address();
      first = acquire(BufferRange.host(memory));
      first.release();
      assertSame(first, acquire(BufferRange.host(memory.asSlice(64))));
      first.release();
      assertEquals(0, device.registrations.closeFreed(range -> false));
    }
    // Another arena at the same address.
    try (Arena next = Arena.ofShared()) {
      MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(4096, next, _ -> {});
      DataRegistration second = acquire(BufferRange.host(memory));
      assertNotEquals(first, second);
      assertFalse(first.isOpen(), "it is superseded");
      second.release();
    }
    assertEquals(1, device.registrations.closeFreed(range -> false));
    assertEquals(0, device.fabric.openRegions());
    arena.close();
  }

  @Test
  void memoryOfAnAutomaticArenaIsCollectedThoughItsRegistrationIsKept() {
    List<DataRegistration> kept = new ArrayList<>();
    WeakReference<MemorySegment.Scope> automatic = registerTwoAndForget(kept);
    for (int collections = 0; !automatic.refersTo(null); collections++) {
      assertTrue(collections < MOST_COLLECTIONS, "it is never collected");
      System.gc();
    }
    DataRegistration next = acquire(BufferRange.host(arena.scope(), 0x10_0000, 64));
    assertNotEquals(kept.getFirst(), next);
    assertFalse(kept.getFirst().isOpen(), "it is superseded");
    assertTrue(kept.getLast().isOpen());
    assertEquals(1, device.registrations.closeFreed(range -> false));
    assertFalse(kept.getLast().isOpen());
    next.release();
    device.registrations.invalidate(next.range().kind(), 0, 0x10_0000, 64);
    arena.close();
  }

  private WeakReference<MemorySegment.Scope> registerTwoAndForget(List<DataRegistration> kept) {
    MemorySegment.Scope automatic = Arena.ofAuto().scope();
    for (long address : new long[] {0x10_0000, 0x20_0000}) {
      kept.add(acquire(BufferRange.host(automatic, address, 64)));
      kept.getLast().release();
    }
    return new WeakReference<>(automatic);
  }

  /** All memory by address has the same scope, and so has a global arena. */
  @Test
  @SuppressWarnings("restricted")
  void whatHasNoArenaIsNotKept() {
    DataRegistration first =
        acquire(BufferRange.host(MemorySegment.ofAddress(0x10_0000).reinterpret(64)));
    first.release();
    assertFalse(first.isOpen());
    arena.close();
  }

  @Test
  void aBufferIsAnAllocationOfItsOwn() {
    MemorySegment memory = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(64));
    DataRegistration first = acquire(BufferRange.host(memory));
    first.release();
    assertSame(first, acquire(BufferRange.host(memory.asSlice(8, 8))));
    first.release();
    arena.close();
  }
}
