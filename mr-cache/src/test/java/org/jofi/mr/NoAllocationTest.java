package org.jofi.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.allocation.Allocation;
import org.jofi.fabric.Access;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.recording.Device;
import org.jofi.mr.recording.RecordingFabric.Profile;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A hit, a use and a release leave nothing for the collector. */
class NoAllocationTest {
  private static final int HITS = 10_000;
  private static final long BASE = 0x10_0000;
  private static final int STRIDE = 8192;
  private static final int ENTRIES = 64;

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aHitAllocatesNothing(boolean endpointScope) {
    try (Device device = new Device(endpointScope ? Profile.CXI : Profile.EFA, 4, 1)) {
      DataRegistration[] made = new DataRegistration[ENTRIES];
      for (int i = 0; i < ENTRIES; i++) {
        made[i] = acquire(device, i);
        made[i].release();
      }
      int runs = Allocation.assertNone(() -> hit(device, made));
      assertEquals((long) HITS * runs, device.registrations.statistics().hits());
    }
  }

  private static DataRegistration acquire(Device device, int entry) {
    return device.rails.registrations.acquire(
        MemoryKind.HOST, 0, 1, BASE + (long) entry * STRIDE, 4096, Access.ALL);
  }

  private static void hit(Device device, DataRegistration[] made) {
    for (int i = 0; i < HITS; i++) {
      DataRegistration got = acquire(device, i % ENTRIES);
      if (!got.equals(made[i % ENTRIES]) || !got.beginUse()) {
        throw new AssertionError("no hit");
      }
      got.endUse();
      got.release();
    }
  }

  @Test
  void aHitInAnArenaAllocatesNothing() {
    try (Device device = new Device(Profile.EFA, 4, 1);
        Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(4096);
      EndpointRegistrations registrations = device.rails.registrations;
      DataRegistration made = registrations.acquire(BufferRange.host(memory), Access.SEND);
      Allocation.assertNone(
          () -> {
            for (int i = 0; i < HITS; i++) {
              DataRegistration got =
                  registrations.use(memory.scope(), memory.address() + i % 64, 64, Access.SEND);
              if (!got.equals(made)) {
                throw new AssertionError("no hit");
              }
              got.endUse();
            }
          });
      made.release();
    }
  }

  @ParameterizedTest
  @EnumSource(MemoryKind.class)
  void aRangeInPartsIsTheSameAsARange(MemoryKind kind) {
    try (Device device = new Device(Profile.EFA, 2, 1)) {
      EndpointRegistrations registrations = device.rails.registrations;
      DataRegistration whole =
          registrations.acquire(BufferRange.device(kind, 0, 7, BASE, 4096), Access.ALL);
      assertSame(whole, registrations.acquire(kind, 0, 7, BASE + 96, 4000, Access.LOCAL));
      DataRegistration other = registrations.acquire(kind, 0, 8, BASE, 4096, Access.ALL);
      assertTrue(other.isOpen() && !other.equals(whole));
      assertEquals(BufferRange.device(kind, 0, 8, BASE, 4096), other.range());
    }
  }
}
