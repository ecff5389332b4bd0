package org.jofi.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.mr.recording.Device;
import org.jofi.mr.recording.RecordingFabric.Profile;
import org.jofi.mr.recording.RecordingFabric.Step;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.RegistrationException;

/** However registrations end or fail, every key comes back: afterwards all of them can be taken. */
class KeyConservationProperties {
  private static final int KEYS = 256;
  private static final List<Step> STEPS = List.of(Step.REGISTER, Step.BIND, Step.ENABLE);

  @Property(tries = 150)
  void everyKeyComesBack(
      @ForAll boolean endpointScope,
      @ForAll @IntRange(min = 1, max = 4) int rails,
      @ForAll @Size(max = 12) List<@IntRange(min = 0, max = 11) Integer> failures) {
    Profile profile = endpointScope ? Profile.CXI_CLIENT_KEY : Profile.TCP.withKeyBytes(1);
    try (Device device = new Device(profile, rails, rails)) {
      int made = 0;
      for (int failure : failures) {
        Step step = STEPS.get(failure / 4);
        boolean fails = failure % 4 < rails && (endpointScope || step == Step.REGISTER);
        BufferRange range = BufferRange.host(0x1000L * ++made, 64);
        if (fails) {
          device.fabric.failNext(step, failure % 4, FabricErrno.EINVAL);
          assertThrows(
              RegistrationException.class,
              () -> device.rails.registrations.acquire(range, Access.ALL));
        } else {
          device.rails.registrations.acquire(range, Access.ALL).release();
        }
      }
      assertEquals(0, device.fabric.openRegions());
      for (int i = 0; i < KEYS; i++) {
        device.rails.registrations.registerControl(
            BufferRange.host(0x100_0000L + i * 64L, 64), Access.REMOTE_WRITE);
      }
      assertEquals(KEYS * rails, device.fabric.openRegions());
    }
  }

  /** The same, more often. */
  @Property(tries = 1000)
  @Tag("long")
  void everyKeyComesBackOften(
      @ForAll boolean endpointScope,
      @ForAll @IntRange(min = 1, max = 4) int rails,
      @ForAll @Size(max = 12) List<@IntRange(min = 0, max = 11) Integer> failures) {
    everyKeyComesBack(endpointScope, rails, failures);
  }
}
