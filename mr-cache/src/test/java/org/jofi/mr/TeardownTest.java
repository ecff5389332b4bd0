package org.jofi.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.NoOpIdleStrategy;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.mr.recording.Device;
import org.jofi.mr.recording.MultiRail;
import org.jofi.mr.recording.RecordingFabric.Profile;
import org.jofi.mr.recording.RecordingFabric.Step;
import org.jofi.mr.recording.SteppingClock;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.teardown.InFlightOperations;
import org.jofi.mr.teardown.OwnershipGraph;
import org.jofi.mr.teardown.Teardown;
import org.jofi.mr.teardown.TeardownException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Close and abort take one road, in the order that the scope demands. */
class TeardownTest {
  private static final BufferRange BUFFER = BufferRange.host(0x10_0000, 8192).ofAllocation(1);
  private Device device = new Device(Profile.EFA, 2, 2);
  private MultiRail rails = device.rails;

  private void with(boolean endpointScope) {
    device.close();
    device = new Device(endpointScope ? Profile.CXI : Profile.EFA, 2, 2);
    rails = new MultiRail("endpoint 1", device.fabric, device.registrations, 2, 2);
  }

  @AfterEach
  void nothingIsLeft() {
    device.close();
  }

  private LocalRegistration postedPool() {
    LocalRegistration pool =
        rails.registrations.registerLocal(
            BufferRange.host(0x20_0000, 4096), rails.controlRails(), Access.RECV);
    rails.post(pool, rails.controlRails());
    return pool;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void closesWithReceivesPostedAndRegistrationsHeld(boolean endpointScope) {
    with(endpointScope);
    postedPool();
    rails.registrations.registerControl(BUFFER, Access.REMOTE_WRITE);
    DataRegistration held = rails.registrations.acquire(BUFFER, Access.ALL);
    assertTrue(rails.post(held, BUFFER));
    assertEquals(Teardown.Stage.ACTIVE, rails.teardown.stage());
    rails.teardown.close();
    assertEquals(Teardown.Stage.CLOSED, rails.teardown.stage());
    assertEquals(endpointScope ? 0 : 2, device.fabric.openRegions());
    assertEquals(!endpointScope, held.isOpen());
    rails.teardown.close();
    assertEquals(0, rails.teardown.abort());
    held.release();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCloseRefusesWhileOperationsDoNotEnd(boolean endpointScope) {
    with(endpointScope);
    DataRegistration held = rails.registrations.acquire(BUFFER, Access.ALL);
    assertTrue(rails.post(held, BUFFER));
    device.fabric.cancelIsIgnored = true;
    TeardownException refused = assertThrows(TeardownException.class, () -> rails.teardown.close());
    assertTrue(refused.getMessage().contains("endpoint 1"), refused::getMessage);
    assertTrue(refused.getMessage().contains("1 request(s)"), refused::getMessage);
    assertEquals(Teardown.Stage.QUIESCING, rails.teardown.stage());
    assertTrue(held.isOpen());
    assertEquals(2, device.fabric.openRegions());
    device.fabric.cancelIsIgnored = false;
    rails.teardown.close();
    held.release();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anAbortClosesWhatNeverEnds(boolean endpointScope) {
    with(endpointScope);
    DataRegistration held = rails.registrations.acquire(BUFFER, Access.ALL);
    assertTrue(rails.post(held, BUFFER));
    device.fabric.cancelIsIgnored = true;
    assertEquals(1, rails.teardown.abort());
    assertEquals(Teardown.Stage.CLOSED, rails.teardown.stage());
    assertEquals(!endpointScope, held.isOpen());
    device.fabric.cancelIsIgnored = false;
    rails.poll();
    held.release();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatCannotBeClosedIsNamedAndTriedAgain(boolean endpointScope) {
    with(endpointScope);
    rails.registrations.registerControl(BUFFER, Access.REMOTE_WRITE);
    device.fabric.failNext(Step.CLOSE, 1, FabricErrno.EIO);
    TeardownException left = assertThrows(TeardownException.class, () -> rails.teardown.close());
    assertTrue(left.getMessage().contains("control mailbox"), left::getMessage);
    assertEquals(
        endpointScope, left.getMessage().contains("endpoint 1 control rail 0"), left::getMessage);
    assertEquals(Teardown.Stage.CLOSING, rails.teardown.stage());
    assertEquals(1, device.fabric.openRegions());
    rails.teardown.close();
    assertEquals(Teardown.Stage.CLOSED, rails.teardown.stage());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void endpointsCloseBeforeTheirDevicesRegistrations(boolean deviceFirst) {
    DataRegistration held = rails.registrations.acquire(BUFFER, Access.ALL);
    assertTrue(rails.post(held, BUFFER));
    device.fabric.cancelIsIgnored = true;
    OwnershipGraph graph = new OwnershipGraph();
    if (deviceFirst) {
      device.registrations.addTo(graph);
    }
    rails.registrations.addTo(graph);
    rails.endpoints().forEach(endpoint -> graph.own(endpoint, endpoint.label()));
    device.registrations.addTo(graph);
    graph.close(true);
    assertEquals(0, device.fabric.openRegions());
    device.fabric.cancelIsIgnored = false;
    rails.poll();
    held.release();
  }

  @Test
  void nothingIsRegisteredOnceTheTeardownHasBegun() {
    DataRegistration held = rails.registrations.acquire(BUFFER, Access.ALL);
    assertTrue(rails.post(held, BUFFER));
    device.fabric.cancelIsIgnored = true;
    assertThrows(TeardownException.class, () -> rails.teardown.close());
    assertEquals(Teardown.Stage.QUIESCING, rails.teardown.stage());
    assertThrows(
        IllegalStateException.class, () -> rails.registrations.acquire(BUFFER, Access.ALL));
    assertThrows(
        IllegalStateException.class,
        () -> rails.registrations.registerControl(BUFFER, Access.REMOTE_WRITE));
    device.fabric.cancelIsIgnored = false;
    rails.teardown.close();
    held.release();
  }

  @Test
  void waitsAreBounded() {
    int[] polls = {0};
    Teardown bounded =
        new Teardown(
            "counted",
            new InFlightOperations() {
              @Override
              public void cancelReceives() {}

              @Override
              public void cancelAll() {}

              @Override
              public int poll() {
                polls[0]++;
                return 1;
              }

              @Override
              public String describe() {
                return "one that never ends";
              }
            },
            graph -> {},
            new SteppingClock(),
            NoOpIdleStrategy.INSTANCE,
            10 * SteppingClock.STEP_NS);
    assertThrows(TeardownException.class, bounded::close);
    assertFalse(polls[0] > 2 * 12, () -> polls[0] + " polls");
    assertEquals(1, bounded.abort());
  }
}
