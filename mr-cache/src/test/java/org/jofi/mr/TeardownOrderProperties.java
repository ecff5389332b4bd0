package org.jofi.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.jofi.fabric.Access;
import org.jofi.mr.recording.Device;
import org.jofi.mr.recording.MultiRail;
import org.jofi.mr.recording.RecordingFabric.Profile;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.teardown.Teardown;

/**
 * Whatever is registered and posted, an abort closes all of it in an order that the provider takes,
 * even if the provider never completes what was cancelled.
 */
class TeardownOrderProperties {

  @Provide
  Arbitrary<Profile> profiles() {
    return Arbitraries.of(Profile.EFA, Profile.TCP, Profile.CXI, Profile.CXI_CLIENT_KEY);
  }

  @Property(tries = 1000)
  void anAbortClosesEverything(
      @ForAll("profiles") Profile profile,
      @ForAll @IntRange(min = 1, max = 4) int dataRails,
      @ForAll @IntRange(min = 1, max = 4) int controlRails,
      @ForAll @Size(max = 10) List<@IntRange(min = 0, max = 2) Integer> made,
      @ForAll boolean cancelIsIgnored) {
    try (Device device = new Device(profile, dataRails, controlRails)) {
      MultiRail rails =
          new MultiRail("aborted", device.fabric, device.registrations, dataRails, controlRails);
      int posted = 0;
      for (int i = 0; i < made.size(); i++) {
        BufferRange range = BufferRange.host(0x10_0000L + i * 4096L, 4096);
        switch (made.get(i)) {
          case 0 -> rails.registrations.registerControl(range, Access.REMOTE_WRITE);
          case 1 -> {
            rails.post(
                rails.registrations.registerLocal(range, rails.controlRails(), Access.RECV),
                rails.controlRails());
            posted++;
          }
          default -> {
            DataRegistration held = rails.registrations.acquire(range, Access.ALL);
            assertTrue(rails.post(held, range));
            posted++;
          }
        }
      }
      device.fabric.cancelIsIgnored = cancelIsIgnored;
      assertEquals(cancelIsIgnored ? posted : 0, rails.teardown.abort());
      assertEquals(Teardown.Stage.CLOSED, rails.teardown.stage());
      rails.endpoints().forEach(endpoint -> assertTrue(endpoint.isClosed()));
      device.fabric.cancelIsIgnored = false;
      rails.poll();
    }
  }
}
