package org.jofi.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.mr.recording.Device;
import org.jofi.mr.recording.RecordingFabric.Profile;
import org.jofi.mr.recording.RecordingFabric.Step;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is registered when the endpoint of one rail closes, and the others go on. */
class RailClosingTest {
  private static final int RAILS = 3;
  private static final int CLOSED = 1;
  private static final BufferRange BUFFER = BufferRange.host(0x10_0000, 8192).ofAllocation(1);
  private static final BufferRange OTHER = BufferRange.host(0x20_0000, 8192).ofAllocation(2);
  private static final BufferRange POOL = BufferRange.host(0x30_0000, 8192).ofAllocation(3);

  private Device device = new Device(Profile.CXI, RAILS, RAILS);

  @AfterEach
  void nothingIsLeft() {
    device.close();
  }

  private EndpointRegistrations registrations() {
    return device.rails.registrations;
  }

  private static List<Long> keys(DataRegistration registration) {
    List<Long> keys = new ArrayList<>();
    for (int rail = 0; rail < RAILS; rail++) {
      keys.add(registration.key(rail));
    }
    return keys;
  }

  @Test
  void itsRegionsAreRevokedAndTheOthersStay() {
    DataRegistration leased = registrations().acquire(BUFFER, Access.ALL);
    LocalRegistration pool =
        registrations().registerLocal(POOL, device.rails.dataRails(), Access.WRITE);
    ControlRegistration mailbox = registrations().registerControl(POOL, Access.REMOTE_WRITE);
    List<Long> before = keys(leased);
    int open = device.fabric.openRegions();
    assertFalse(registrations().outlivesEndpoints());
    assertTrue(registrations().closeRail(CLOSED));
    assertEquals(open - 2, device.fabric.openRegions(), "one of the buffer, one of the pool");
    List<Long> after = keys(leased);
    assertEquals(0, after.get(CLOSED));
    assertNotEquals(0, before.get(CLOSED));
    after.set(CLOSED, before.get(CLOSED));
    assertEquals(before, after);
    // Nothing is bound to its endpoint any more, nor ever will be.
    device.rails.dataRails().get(CLOSED).endpoint().close();
    DataRegistration later = registrations().acquire(OTHER, Access.ALL);
    assertEquals(0, later.key(CLOSED));
    assertNotEquals(0, later.key(0));
    assertEquals(before.get(0), keys(registrations().acquire(BUFFER, Access.ALL)).get(0));
    leased.release();
    leased.release();
    later.release();
    pool.close();
    mailbox.close();
  }

  @Test
  void whereRegionsBelongToDomainsNothingChanges() {
    device.close();
    device = new Device(Profile.EFA, RAILS, RAILS);
    DataRegistration leased = registrations().acquire(BUFFER, Access.ALL);
    List<Long> before = keys(leased);
    assertTrue(registrations().outlivesEndpoints());
    assertTrue(registrations().closeRail(CLOSED));
    assertEquals(before, keys(leased));
    assertEquals(RAILS, device.fabric.openRegions());
    leased.release();
  }

  /** A region that is being made there would keep the endpoint open. */
  @Test
  void itWaitsForWhatIsBeingRegistered() {
    List<Boolean> answers = new ArrayList<>();
    device.fabric.duringNextRegistration = () -> answers.add(registrations().closeRail(CLOSED));
    DataRegistration leased = registrations().acquire(BUFFER, Access.ALL);
    assertEquals(List.of(false), answers);
    assertNotEquals(0, leased.key(CLOSED));
    assertTrue(registrations().closeRail(CLOSED));
    assertEquals(0, leased.key(CLOSED));
    leased.release();
  }

  @Test
  void whatIsRefusedIsTriedAgain() {
    DataRegistration leased = registrations().acquire(BUFFER, Access.ALL);
    device.fabric.failNext(Step.CLOSE, CLOSED, FabricErrno.EBUSY);
    assertThrows(FabricException.class, () -> registrations().closeRail(CLOSED));
    assertEquals(RAILS, device.fabric.openRegions());
    assertTrue(registrations().closeRail(CLOSED));
    assertTrue(registrations().closeRail(CLOSED));
    assertEquals(RAILS - 1, device.fabric.openRegions());
    leased.release();
  }
}
