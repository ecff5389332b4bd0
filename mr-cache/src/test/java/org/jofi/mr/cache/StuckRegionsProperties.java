package org.jofi.mr.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.RegisteredArena;
import org.jofi.mr.recording.Device;
import org.jofi.mr.recording.RecordedRegion;
import org.jofi.mr.recording.RecordingFabric.Profile;
import org.jofi.mr.recording.RecordingFabric.Step;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheLimits;

/**
 * However often providers refuse to close regions: memory that was invalidated without an error has
 * none, an arena that is closed has none, and in the end there are none and all keys are back.
 */
public class StuckRegionsProperties {
  private static final int RAILS = 2;
  private static final int KEYS = 256;
  private static final long BASE = 0x10_0000L;
  private static final int UNIT = 4096;

  private static final Logger LOG = Logger.getLogger("org.jofi.registration");

  /** Each refusal is logged, and here are thousands. */
  @BeforeContainer
  static void quiet() {
    LOG.setLevel(Level.OFF);
  }

  @AfterContainer
  static void loud() {
    LOG.setLevel(null);
  }

  @Property(tries = 1000)
  void nothingIsFreedUnderARegionAndNothingIsLost(
      @ForAll boolean endpointScope,
      @ForAll boolean kept,
      @ForAll @Size(max = 30) List<@IntRange(min = 0, max = 59) Integer> steps) {
    Profile profile = endpointScope ? Profile.CXI_CLIENT_KEY : Profile.TCP.withKeyBytes(1);
    CacheLimits limits = kept ? CacheLimits.DEFAULT.withIdle(3, 1 << 20) : CacheLimits.OFF;
    try (Device device = new Device(profile, RAILS, RAILS, limits)) {
      for (int step : steps) {
        int unit = step / 6;
        BufferRange range = BufferRange.host(BASE + (long) unit * UNIT, UNIT).ofAllocation(1);
        switch (step % 6) {
          case 0, 1 -> device.rails.registrations.acquire(range, Access.ALL).release();
          case 2 -> device.fabric.failNext(Step.CLOSE, unit % RAILS, FabricErrno.EIO, 1 + unit % 3);
          case 3 -> device.registrations.evictIdle();
          case 4 -> invalidate(device, range);
          default -> arena(device);
        }
      }
      device.fabric.failNothing();
      device.registrations.invalidate(MemoryKind.HOST, 0, 1, Long.MAX_VALUE);
      assertEquals(0, device.fabric.openRegions());
      assertEquals(0, device.registrations.statistics().registrations());
      assertEquals(0, device.registrations.statistics().bytesPinned());
      for (int i = 0; i < KEYS; i++) {
        device.rails.registrations.registerControl(
            BufferRange.host(0x100_0000L + i * 64L, 64), Access.REMOTE_WRITE);
      }
    }
  }

  private static void invalidate(Device device, BufferRange range) {
    try {
      device.registrations.invalidate(MemoryKind.HOST, 0, range.address(), range.lengthBytes());
    } catch (FabricException refused) {
      return; // Told.
    }
    assertFree(device, range);
  }

  private static void assertFree(Device device, BufferRange range) {
    for (RecordedRegion region : device.fabric.regions()) {
      long address = region.request().address();
      assertTrue(
          address >= range.address() + range.lengthBytes()
              || range.address() >= address + region.request().lengthBytes(),
          () -> range + " may be freed, but is registered");
    }
  }

  private static void arena(Device device) {
    RegisteredArena arena = device.registrations.openArena();
    BufferRange range = BufferRange.host(arena.allocate(UNIT, 64));
    device.rails.registrations.acquire(range, Access.ALL).release();
    boolean closed = false;
    while (!closed) {
      try {
        arena.close();
        closed = true;
      } catch (FabricException refused) {
        assertTrue(arena.scope().isAlive());
      }
    }
    assertFalse(arena.scope().isAlive());
    assertFree(device, range);
  }
}
