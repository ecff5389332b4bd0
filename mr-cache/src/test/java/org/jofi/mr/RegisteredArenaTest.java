package org.jofi.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
    DataRegistration whole = acquire(arena.range(segment));
    whole.release();
    assertTrue(whole.isOpen());
    assertSame(whole, acquire(arena.range(segment.asSlice(100, 200))));
    arena.close();
    assertFalse(whole.isOpen());
    assertEquals(0, device.fabric.openRegions());
    assertFalse(segment.scope().isAlive());
    whole.release();
    assertThrows(IllegalStateException.class, arena::close);
  }

  @Test
  void aCloseIsRefusedWhileRequestsAreInFlight() {
    DataRegistration used = acquire(arena.range(segment));
    assertTrue(device.rails.post(used, used.range()));
    RegistrationBusyException busy = assertThrows(RegistrationBusyException.class, arena::close);
    assertTrue(busy.getMessage().contains("request 42"));
    assertTrue(segment.scope().isAlive());
    assertSame(used, acquire(arena.range(segment)), "it can still be registered");
    device.rails.complete(0);
    arena.close();
  }

  @Test
  void memoryIsNotFreedUnderARegionThatStaysOpen() {
    acquire(arena.range(segment)).release();
    device.fabric.failNext(Step.CLOSE, 0, FabricErrno.EIO);
    assertThrows(FabricException.class, arena::close);
    assertTrue(segment.scope().isAlive());
    BufferRange range = arena.range(segment);
    assertThrows(IllegalStateException.class, () -> acquire(range));
    arena.close();
    assertFalse(segment.scope().isAlive());
  }

  @Test
  void aClosedArenasMemoryCannotBeRegistered() {
    BufferRange range = arena.range(segment);
    arena.close();
    assertThrows(IllegalStateException.class, () -> acquire(range));
    RegisteredArena next = device.registrations.openArena();
    assertNotEquals(range.allocationId(), next.range(next.allocate(64)).allocationId());
    next.close();
  }

  @Test
  void aSecondCloseTouchesNobodyElsesRegistrations() {
    BufferRange range = arena.range(segment);
    arena.close();
    DataRegistration next = acquire(BufferRange.host(range.address(), 4096).ofAllocation(9));
    assertThrows(IllegalStateException.class, arena::close);
    assertTrue(next.isOpen());
  }

  @Test
  void anotherDevicesArenaIsRefused() {
    try (Device other = new Device(Profile.TCP, 1, 1)) {
      RegisteredArena theirs = other.registrations.openArena();
      BufferRange range = arena.range(segment);
      IllegalStateException refused =
          assertThrows(
              IllegalStateException.class,
              () -> other.rails.registrations.acquire(range, Access.ALL));
      assertTrue(refused.getMessage().contains("of another device"), refused::getMessage);
      assertEquals(0, other.fabric.openRegions());
      theirs.close();
    }
    arena.close();
  }

  @Test
  void foreignMemoryIsRefused() {
    try (Arena other = Arena.ofConfined()) {
      MemorySegment foreign = other.allocate(64);
      assertThrows(IllegalArgumentException.class, () -> arena.range(foreign));
      assertThrows(
          IllegalArgumentException.class,
          () -> BufferRange.host(MemorySegment.ofArray(new byte[64])));
      assertEquals(0, BufferRange.host(foreign).allocationId());
    }
    arena.close();
  }
}
