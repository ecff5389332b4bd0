package org.jofi.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.fabric.Addressing;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.key.KeysExhaustedException;
import org.jofi.mr.recording.Device;
import org.jofi.mr.recording.RecordingFabric.Profile;
import org.jofi.mr.recording.RecordingFabric.Step;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which calls a registration makes on which rails, what it tells, and what it leaves. */
class RegistrationTest {
  private static final BufferRange BUFFER = BufferRange.host(0x10_0000, 8192).ofAllocation(1);
  private Device device = new Device(Profile.EFA, 4, 4);

  private void with(Profile profile, int dataRails, int controlRails) {
    device.close();
    device = new Device(profile, dataRails, controlRails);
  }

  @AfterEach
  void nothingIsLeft() {
    device.close();
  }

  private static Profile profile(String name) {
    return switch (name) {
      case "efa" -> Profile.EFA;
      case "tcp" -> Profile.TCP;
      case "cxi" -> Profile.CXI;
      case "cxi-client-key" -> Profile.CXI_CLIENT_KEY;
      default -> throw new IllegalArgumentException(name);
    };
  }

  /** So many registered; so many bound and enabled, to endpoints of that role. */
  private void assertCalls(int registered, int bound, String role) {
    assertEquals(
        List.of(registered, bound, bound),
        List.of(
            device.fabric.calls(Step.REGISTER),
            device.fabric.calls(Step.BIND),
            device.fabric.calls(Step.ENABLE)));
    if (bound > 0) {
      device.fabric.regions().forEach(r -> assertTrue(r.endpoint().label().contains(role)));
    }
  }

  @ParameterizedTest
  @CsvSource({"efa, 0", "tcp, 0", "cxi, 4", "cxi-client-key, 4"})
  void aDataBufferIsRegisteredOnDataRailsOnly(String profile, int steps) {
    with(profile(profile), 4, 4);
    DataRegistration registration = device.rails.registrations.acquire(BUFFER, Access.ALL);
    assertCalls(4, steps, "data");
    assertEquals(4, registration.rails());
    registration.release();
    assertEquals(4, device.fabric.calls(Step.REGISTER));
  }

  @ParameterizedTest
  @CsvSource({"efa, 1, 0", "tcp, 4, 0", "cxi, 1, 1", "cxi, 4, 4", "cxi-client-key, 3, 3"})
  void aMailboxIsRegisteredOnControlRailsOnly(String profile, int rails, int steps) {
    with(profile(profile), 4, rails);
    ControlRegistration mailbox =
        device.rails.registrations.registerControl(BUFFER, Access.REMOTE_WRITE);
    assertCalls(rails, steps, "control");
    assertEquals(rails, mailbox.rails());
    mailbox.close();
    mailbox.close();
    assertEquals(0, device.fabric.openRegions());
    assertThrows(
        IllegalArgumentException.class,
        () -> device.rails.registrations.registerControl(BUFFER, Access.LOCAL));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aPoolIsRegisteredOnlyWhereADescriptorIsNeeded(boolean needed) {
    with(needed ? Profile.CXI : Profile.CXI.withoutLocal(), 4, 2);
    LocalRegistration pool =
        device.rails.registrations.registerLocal(BUFFER, device.rails.controlRails(), Access.RECV);
    assertEquals(needed ? 2 : 0, device.fabric.openRegions());
    assertEquals(needed, pool.descriptor(1) != 0);
    device.fabric.regions().forEach(region -> assertEquals(Access.RECV, region.request().access()));
    assertThrows(
        IllegalArgumentException.class,
        () ->
            device.rails.registrations.registerLocal(BUFFER, device.rails.dataRails(), Access.ALL));
    Device other = new Device(Profile.CXI, 1, 1);
    assertThrows(
        IllegalArgumentException.class,
        () ->
            device.rails.registrations.registerLocal(BUFFER, other.rails.dataRails(), Access.RECV));
    other.close();
    pool.close();
  }

  @ParameterizedTest
  @CsvSource({"efa", "tcp", "cxi", "cxi-client-key"})
  void keysAndAddressesAreWhatPeersNeed(String name) {
    Profile profile = profile(name);
    with(profile, 3, 1);
    DataRegistration registration = device.rails.registrations.acquire(BUFFER, Access.ALL);
    ControlRegistration mailbox =
        device.rails.registrations.registerControl(BUFFER, Access.REMOTE_WRITE);
    long inside = BUFFER.address() + 100;
    long expected = profile.addressing() == Addressing.VIRTUAL ? inside : 100;
    for (int rail = 0; rail < 3; rail++) {
      assertEquals(expected, registration.remoteAddress(rail, inside));
      long descriptor = registration.descriptor(rail);
      long key = registration.key(rail);
      assertTrue(
          device.fabric.domains.get(rail).regions.stream()
              .anyMatch(r -> r.descriptor() == descriptor && r.key() == key));
    }
    assertEquals(expected, mailbox.remoteAddress(0, inside));
    assertTrue(mailbox.key(0) != registration.key(0), "two live regions of a domain, one key");
    assertThrows(
        IndexOutOfBoundsException.class,
        () -> registration.remoteAddress(0, BUFFER.address() + BUFFER.lengthBytes()));
    assertThrows(
        IndexOutOfBoundsException.class, () -> mailbox.remoteAddress(0, BUFFER.address() - 1));
    registration.release();
    DataRegistration local =
        device.rails.registrations.acquire(
            BufferRange.host(0x90_0000, 64).ofAllocation(2), Access.LOCAL);
    assertThrows(IllegalStateException.class, () -> local.key(0));
    local.release();
    mailbox.close();
  }

  @ParameterizedTest
  @EnumSource(
      value = Step.class,
      names = {"REGISTER", "BIND", "ENABLE"})
  void aFailureAtAnyRailUndoesExactlyWhatWasDone(Step step) {
    for (int rail = 0; rail < 4; rail++) {
      with(Profile.CXI_CLIENT_KEY, 4, 4);
      int failing = rail;
      device.fabric.failNext(step, failing, FabricErrno.EINVAL);
      RegistrationException failure =
          assertThrows(
              RegistrationException.class,
              () -> device.rails.registrations.acquire(BUFFER, Access.ALL));
      assertTrue(failure.getMessage().contains("rail " + failing + " of 4"));
      assertTrue(failure.getMessage().contains("HOST [0x100000, +8192)"));
      assertEquals(0, device.fabric.openRegions());
      assertEquals(failing + (step == Step.REGISTER ? 0 : 1), device.fabric.calls(Step.CLOSE));
      // All 256 keys are there: nothing of the failed attempt holds one.
      for (int i = 0; i < 256; i++) {
        device.rails.registrations.registerControl(
            BufferRange.host(0x4000 + i * 64L, 64), Access.REMOTE_WRITE);
      }
      assertTrue(
          assertThrows(
                      RegistrationException.class,
                      () -> device.rails.registrations.registerControl(BUFFER, Access.REMOTE_WRITE))
                  .getCause()
              instanceof KeysExhaustedException);
      device.rails.teardown.close();
      assertEquals(0, device.fabric.openRegions());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void everyKeyWidthIsServed(int width) {
    with(Profile.CXI_CLIENT_KEY.withKeyBytes(width), 2, 2);
    for (int i = 0; i < 200; i++) {
      device
          .rails
          .registrations
          .acquire(BufferRange.host(0x4000 + i * 64L, 64).ofAllocation(1), Access.ALL)
          .release();
    }
    assertEquals(400, device.fabric.openRegions());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 9})
  void anotherKeyWidthIsRefused(int width) {
    assertThrows(
        IllegalArgumentException.class, () -> new Device(Profile.TCP.withKeyBytes(width), 1, 1));
  }

  @ParameterizedTest
  @CsvSource({"tcp", "cxi-client-key"})
  void exhaustedKeysAreTakenFromIdleRegistrations(String name) {
    with(profile(name).withKeyBytes(1), 1, 1);
    for (int i = 0; i < 300; i++) {
      device
          .rails
          .registrations
          .acquire(BufferRange.host(0x4000 + i * 64L, 64).ofAllocation(1), Access.ALL)
          .release();
    }
    assertTrue(device.registrations.statistics().evictions() > 0);
    assertTrue(device.fabric.openRegions() <= 256);
  }

  @ParameterizedTest
  @CsvSource({"efa", "cxi"})
  void wrongUseIsRefused(String name) {
    with(profile(name), 1, 1);
    assertThrows(
        IllegalArgumentException.class, () -> device.rails.registrations.acquire(BUFFER, 0));
    assertThrows(
        IllegalArgumentException.class, () -> device.rails.registrations.acquire(BUFFER, 1));
    assertThrows(IllegalArgumentException.class, () -> BufferRange.host(0, 4096));
    assertThrows(IllegalArgumentException.class, () -> BufferRange.host(4096, 0));
    assertThrows(IllegalArgumentException.class, () -> BufferRange.host(-4096, 8192));
    assertThrows(
        IllegalArgumentException.class,
        () -> new BufferRange(MemoryKind.HOST, 0, 7, Arena.ofAuto().scope(), 4096, 4096, null));
    assertThrows(
        IllegalArgumentException.class,
        () -> BufferRange.device(MemoryKind.HOST, 1, 0, 4096, 4096));
    DataRegistration registration = device.rails.registrations.acquire(BUFFER, Access.ALL);
    assertThrows(IllegalStateException.class, registration::endUse);
    registration.release();
    assertThrows(IllegalStateException.class, registration::release);
    assertThrows(IllegalStateException.class, registration::beginUse);
    assertEquals(1, device.fabric.openRegions());
    device.rails.teardown.close();
    assertThrows(
        IllegalStateException.class,
        () ->
            device.rails.registrations.registerLocal(
                BUFFER, device.rails.dataRails(), Access.RECV));
    assertFalse(registration.isOpen() && name.equals("cxi"));
  }
}
