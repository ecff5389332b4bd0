package org.jofi.mr.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.ControlRegistration;
import org.jofi.mr.LocalRegistration;
import org.jofi.mr.recording.Device;
import org.jofi.mr.recording.MultiRail;
import org.jofi.mr.recording.RecordingFabric.Profile;
import org.jofi.mr.recording.RecordingFabric.Step;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheCounters;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationBusyException;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.mr.scope.EndpointRails;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Where registrations must be told apart, and what happens when closing goes wrong. */
public class CacheBoundaryTest {
  private Device device = new Device(Profile.TCP, 2, 1);

  @AfterEach
  void nothingIsLeft() {
    device.close();
  }

  private void with(Profile profile, CacheLimits limits) {
    device.close();
    device = new Device(profile, 2, 1, limits);
  }

  private DataRegistration acquire(BufferRange range) {
    return device.rails.registrations.acquire(range, Access.ALL);
  }

  private static BufferRange host(long address, long length) {
    return BufferRange.host(address, length).ofAllocation(1);
  }

  @ParameterizedTest
  @ValueSource(longs = {4 << 10, 64 << 10})
  void neighboursInAPageAreNotTheSame(long page) {
    long base = 16 * page;
    DataRegistration left = acquire(host(base, 100));
    DataRegistration right = acquire(host(base + 100, 100));
    DataRegistration across = acquire(host(base + 50, 100));
    DataRegistration end = acquire(host(base + page - 8, 16));
    assertEquals(4, List.of(left, right, across, end).stream().distinct().count());
    DataRegistration all = acquire(host(base, 2 * page));
    for (DataRegistration part : List.of(left, right, across, end)) {
      assertNotSame(all, part);
      assertTrue(part.isOpen(), "superseded, but leased");
    }
    assertSame(all, acquire(host(base, 100)));
    assertSame(all, acquire(host(base + page - 8, 16)));
    assertNotSame(all, acquire(host(base + page - 8, page + 9)), "one byte too far");
  }

  @Test
  void whatIsRetiredIsClosedWithItsLastLeaseAndNotFoundAgain() {
    BufferRange range = host(4096, 100);
    DataRegistration first = acquire(range);
    DataRegistration second = acquire(range);
    assertSame(first, second);
    assertTrue(first.beginUse());
    first.retire();
    first.retire();
    assertNotSame(first, acquire(range));
    first.endUse();
    first.release();
    assertTrue(first.isOpen(), "leased");
    second.release();
    assertFalse(first.isOpen(), "kept");
    DataRegistration idle = acquire(host(1 << 20, 100));
    idle.release();
    assertTrue(idle.isOpen(), "not kept");
    idle.retire();
    assertFalse(idle.isOpen());
    idle.retire();
  }

  @Test
  void equalAddressesOfDifferentMemoryAreNotTheSame() {
    long address = 0x7f00_0000_0000L;
    DataRegistration host = acquire(host(address, 4096));
    DataRegistration gpu0 = acquire(BufferRange.device(MemoryKind.CUDA, 0, 1, address, 4096));
    DataRegistration gpu1 = acquire(BufferRange.device(MemoryKind.CUDA, 1, 1, address, 4096));
    DataRegistration rocm = acquire(BufferRange.device(MemoryKind.ROCM, 1, 1, address, 4096));
    DataRegistration dma = acquire(gpu0.range().through(new DmaBuf(3, 0)));
    assertEquals(5, List.of(host, gpu0, gpu1, rocm, dma).stream().distinct().count());
    assertSame(dma, acquire(gpu0.range().through(new DmaBuf(9, 0))), "exported once more");
    device.registrations.invalidate(MemoryKind.CUDA, 0, address, 1);
    assertFalse(gpu0.isOpen() || dma.isOpen());
    assertTrue(host.isOpen() && gpu1.isOpen() && rocm.isOpen());
  }

  @Test
  void reallocatedMemoryIsNotTheSame() {
    DataRegistration old = acquire(BufferRange.device(MemoryKind.CUDA, 0, 1, 0x1000, 4096));
    old.release();
    DataRegistration now = acquire(BufferRange.device(MemoryKind.CUDA, 0, 2, 0x1400, 64));
    assertNotSame(old, now);
    assertFalse(old.isOpen(), "its memory must be gone");
  }

  @Test
  void memoryOfAnUnknownAllocationIsSharedButNotKept() {
    DataRegistration first = acquire(BufferRange.host(0x1000, 4096));
    DataRegistration second = acquire(BufferRange.host(0x1800, 64));
    assertSame(first, second);
    first.release();
    assertTrue(first.isOpen());
    second.release();
    assertFalse(first.isOpen());
    assertEquals(0, device.fabric.openRegions());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aNewEndpointGetsNothingOfAClosedOne(boolean abort) {
    with(Profile.CXI, CacheLimits.DEFAULT);
    MultiRail other = new MultiRail("other", device.fabric, device.registrations, 2, 1);
    DataRegistration held = other.registrations.acquire(host(0x1000, 4096), Access.ALL);
    if (abort) {
      assertEquals(0, other.teardown.abort());
    } else {
      other.teardown.close();
    }
    assertFalse(held.isOpen());
    assertFalse(held.beginUse());
    MultiRail next = new MultiRail("next", device.fabric, device.registrations, 2, 1);
    DataRegistration made = next.registrations.acquire(host(0x1000, 4096), Access.ALL);
    assertNotSame(held, made);
    held.release();
    made.release();
    assertTrue(made.isOpen());
    next.teardown.close();
    assertThrows(
        IllegalStateException.class,
        () -> next.registrations.acquire(host(0x1000, 4096), Access.ALL));
  }

  @Test
  void endpointsOverTheSameNicsShareInDomainScope() {
    MultiRail other = new MultiRail("other", device.fabric, device.registrations, 2, 1);
    MultiRail narrow = new MultiRail("narrow", device.fabric, device.registrations, 1, 1);
    DataRegistration first = acquire(host(0x1000, 4096));
    assertSame(first, other.registrations.acquire(host(0x1000, 4096), Access.ALL));
    assertNotSame(first, narrow.registrations.acquire(host(0x1000, 4096), Access.ALL));
    other.teardown.close();
    narrow.teardown.close();
    assertTrue(first.isOpen());
  }

  @Test
  void closingWhatRequestsUseIsRefusedAndNamesThem() {
    DataRegistration busy = acquire(host(0x1000, 4096));
    DataRegistration idle = acquire(host(0x3000, 4096));
    idle.release();
    assertTrue(device.rails.post(busy, busy.range()));
    RegistrationBusyException refused =
        assertThrows(
            RegistrationBusyException.class,
            () -> device.registrations.invalidate(MemoryKind.HOST, 0, 0x1000, 0x4000));
    assertTrue(refused.getMessage().contains("request 42"), refused::getMessage);
    assertTrue(refused.getMessage().contains("HOST [0x1000, +4096)"), refused::getMessage);
    assertTrue(busy.isOpen() && idle.isOpen(), "nothing may have changed");
    device.rails.complete(0);
    device.registrations.invalidate(MemoryKind.HOST, 0, 0x1000, 0x4000);
    assertFalse(busy.isOpen() || idle.isOpen());
    busy.release();
  }

  @Test
  void leastRecentlyUsedGoesFirst() {
    with(Profile.EFA, CacheLimits.DEFAULT.withIdle(2, 1 << 20));
    DataRegistration a = acquire(host(0x1000, 64));
    DataRegistration b = acquire(host(0x2000, 64));
    a.release();
    b.release();
    DataRegistration c = acquire(host(0x3000, 64));
    assertSame(a, acquire(host(0x1000, 64)), "used again after c was made");
    a.release();
    c.release();
    assertTrue(a.isOpen() && c.isOpen());
    assertFalse(b.isOpen());
    assertEquals(1, device.registrations.statistics().evictions());
  }

  @Test
  void whatIsLeasedIsNeverEvicted() {
    with(Profile.CXI, CacheLimits.DEFAULT.withIdle(1, 1 << 20));
    DataRegistration held = acquire(host(0x1000, 64));
    held.release();
    assertSame(held, acquire(host(0x1000, 64)));
    for (int i = 2; i < 20; i++) {
      acquire(host(0x1000L * i, 64)).release();
    }
    assertTrue(held.isOpen());
    device.registrations.evictIdle();
    assertTrue(held.isOpen());
    held.release();
    assertEquals(2, device.fabric.openRegions());
  }

  @Test
  void roomIsMadeForARegistrationThatFails() {
    acquire(host(0x10_0000, 4096)).release();
    acquire(host(0x20_0000, 4096)).release();
    device.fabric.failNext(Step.REGISTER, 1, FabricErrno.ENOSPC);
    DataRegistration made = acquire(host(0x30_0000, 64));
    assertTrue(made.isOpen());
    int before = device.fabric.calls(Step.REGISTER);
    made.release();
    device.fabric.failNext(Step.REGISTER, 0, FabricErrno.ENOMEM, 3);
    acquireFails(host(0x40_0000, 64));
    assertEquals(before + 2, device.fabric.calls(Step.REGISTER), "evicts one, and tries again");
    acquireFails(host(0x40_0000, 64));
    assertEquals(before + 3, device.fabric.calls(Step.REGISTER), "nothing to evict: no retry");
    assertEquals(0, device.fabric.openRegions());
  }

  /** Another process takes what was freed, each time. */
  @Test
  void moreAndMoreRoomIsMade() {
    for (int i = 0; i < 300; i++) {
      acquire(host(0x100_0000 + i * 0x1_0000L, 0x1_0000)).release();
    }
    device.fabric.failNext(Step.REGISTER, 0, FabricErrno.ENOMEM, 2);
    acquire(host(0x1_0000, 64)).release();
    assertEquals(1 + 16, device.registrations.statistics().evictions());
    device.fabric.failNext(Step.REGISTER, 0, FabricErrno.ENOMEM, 4);
    int before = device.fabric.calls(Step.REGISTER);
    acquireFails(host(0x2_0000, 64));
    assertEquals(before + RegionOpenings.MOST_TRIES, device.fabric.calls(Step.REGISTER));
    assertEquals(17 + 1 + 16 + 256, device.registrations.statistics().evictions());
  }

  /** Uses end where no provider may be called. */
  @Test
  void whoseLastUseEndsIsLookedAtLater() {
    DataRegistration unknown = acquire(BufferRange.host(0x10_0000, 64));
    DataRegistration known = acquire(host(0x20_0000, 64));
    for (DataRegistration each : List.of(unknown, known)) {
      assertTrue(each.beginUse());
      each.release();
    }
    assertTrue(device.registrations.isSettled());
    unknown.endUse();
    known.endUse();
    assertFalse(device.registrations.isSettled());
    assertEquals(4, device.fabric.openRegions(), "closed within a completion");
    device.registrations.settle();
    assertTrue(device.registrations.isSettled());
    assertFalse(unknown.isOpen());
    assertEquals(2, device.fabric.openRegions());
    assertSame(known, acquire(host(0x20_0000, 64)));
    known.release();
    assertEquals(1, device.registrations.evictIdle(), "kept twice, or not at all");
  }

  @Test
  void whatIsNotLookedAtYetIsUsedAgainOrGivenUp() {
    DataRegistration again = used(host(0x10_0000, 64));
    assertSame(again, acquire(host(0x10_0000, 64)));
    device.registrations.settle();
    assertTrue(again.isOpen(), "closed under its lease");
    again.release();
    DataRegistration freed = used(BufferRange.host(0x20_0000, 64));
    device.registrations.invalidate(MemoryKind.HOST, 0, 0x20_0000, 64);
    assertFalse(freed.isOpen());
    device.registrations.settle();
    DataRegistration missed = used(BufferRange.host(0x30_0000, 64));
    acquire(host(0x40_0000, 64)).release();
    assertFalse(missed.isOpen(), "left until another registration is made");
    assertEquals(2, device.registrations.evictIdle());
    assertEquals(0, device.fabric.openRegions());
  }

  /** One that only a use held, which has ended. */
  private DataRegistration used(BufferRange range) {
    DataRegistration registration = acquire(range);
    assertTrue(registration.beginUse());
    registration.release();
    registration.endUse();
    return registration;
  }

  private void acquireFails(BufferRange range) {
    RegistrationException failure = assertThrows(RegistrationException.class, () -> acquire(range));
    assertTrue(failure.getMessage().contains("ENOMEM"), failure::getMessage);
  }

  @Test
  void aRegionThatCannotBeClosedIsTriedAgain() {
    with(Profile.CXI_CLIENT_KEY, CacheLimits.OFF);
    DataRegistration registration = acquire(host(0x1000, 64));
    device.fabric.failNext(Step.CLOSE, 1, FabricErrno.EIO);
    registration.release();
    assertFalse(registration.isOpen());
    assertEquals(1, device.fabric.openRegions());
    device.fabric.failNext(Step.CLOSE, 1, FabricErrno.EIO);
    assertThrows(
        FabricException.class,
        () -> device.registrations.invalidate(MemoryKind.HOST, 0, 0x1000, 64));
    device.registrations.invalidate(MemoryKind.HOST, 0, 0x1000, 64);
    assertEquals(0, device.fabric.openRegions());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aRegionThatCannotBeUndoneIsClosedWithItsEndpoint(boolean cached) {
    with(Profile.CXI_CLIENT_KEY, CacheLimits.DEFAULT);
    MultiRail endpoint = new MultiRail("other", device.fabric, device.registrations, 2, 2);
    // The second rail refuses to register; then the first refuses to close.
    device.fabric.failNext(Step.REGISTER, 1, FabricErrno.EINVAL);
    device.fabric.onFailure = () -> device.fabric.failNext(Step.CLOSE, 0, FabricErrno.EIO);
    assertThrows(
        RegistrationException.class,
        () -> {
          if (cached) {
            endpoint.registrations.acquire(host(0x1000, 64), Access.ALL);
          } else {
            endpoint.registrations.registerControl(host(0x1000, 64), Access.ALL);
          }
        });
    assertEquals(1, device.fabric.openRegions());
    endpoint.teardown.close();
    assertEquals(0, device.fabric.openRegions());
  }

  @ParameterizedTest
  @CsvSource({"BIND, true", "BIND, false", "ENABLE, true", "ENABLE, false"})
  void aHalfMadeRegionThatStaysOpenKeepsItsKeyUntilItsEndpointCloses(Step step, boolean cached) {
    with(Profile.CXI_CLIENT_KEY, CacheLimits.DEFAULT);
    MultiRail endpoint = new MultiRail("other", device.fabric, device.registrations, 2, 2);
    device.fabric.failNext(step, 1, FabricErrno.EINVAL);
    device.fabric.onFailure = () -> device.fabric.failNext(Step.CLOSE, 1, FabricErrno.EIO);
    assertThrows(
        RegistrationException.class,
        () -> {
          if (cached) {
            endpoint.registrations.acquire(host(0x1000, 64), Access.ALL);
          } else {
            endpoint.registrations.registerControl(host(0x1000, 64), Access.ALL);
          }
        });
    assertEquals(1, device.fabric.openRegions());
    for (int i = 0; i < 255; i++) {
      acquire(host(0x4000 + i * 64L, 64));
    }
    assertThrows(RegistrationException.class, () -> acquire(host(0x9_0000, 64)));
    endpoint.teardown.close();
    assertTrue(acquire(host(0x9_0000, 64)).isOpen(), "its key is back");
    assertEquals(512, device.fabric.openRegions());
  }

  @Test
  void aRegionThatStaysOpenStaysCounted() {
    with(Profile.EFA, CacheLimits.OFF);
    DataRegistration registration = acquire(host(0x1000, 64));
    device.fabric.failNext(Step.CLOSE, 1, FabricErrno.EIO);
    registration.release();
    CacheCounters.Snapshot stuck = device.registrations.statistics();
    assertEquals(64, stuck.bytesPinned());
    assertEquals(1, stuck.registrations());
    assertEquals(0, stuck.closes());
    assertEquals(1, stuck.closeFailures());
    device.registrations.invalidate(MemoryKind.HOST, 0, 0x1000, 64);
    CacheCounters.Snapshot closed = device.registrations.statistics();
    assertEquals(0, closed.bytesPinned());
    assertEquals(0, closed.registrations());
    assertEquals(1, closed.closes());
  }

  @Test
  void oneSpaceThatRefusesKeepsNoOtherOpen() {
    with(Profile.EFA, CacheLimits.DEFAULT);
    MultiRail narrow = new MultiRail("narrow", device.fabric, device.registrations, 1, 1);
    acquire(host(0x1000, 64)).release();
    narrow.registrations.acquire(host(0x1000, 64), Access.ALL).release();
    narrow.teardown.close();
    device.rails.teardown.close();
    device.fabric.failNext(Step.CLOSE, 1, FabricErrno.EIO);
    assertThrows(FabricException.class, () -> device.registrations.closeRegardless());
    assertEquals(1, device.fabric.openRegions());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void nothingIsRegisteredOnWhatIsClosed(boolean endpointScope) {
    with(endpointScope ? Profile.CXI : Profile.EFA, CacheLimits.DEFAULT);
    MultiRail other = new MultiRail("other", device.fabric, device.registrations, 2, 1);
    acquire(host(0x1000, 64));
    device.rails.teardown.close();
    assertThrows(IllegalStateException.class, () -> acquire(host(0x1000, 64)));
    assertThrows(
        IllegalStateException.class,
        () -> device.rails.registrations.acquire(MemoryKind.HOST, 0, 1, 0x1000, 64, Access.ALL));
    device.registrations.close();
    assertThrows(
        IllegalStateException.class,
        () -> other.registrations.acquire(host(0x1000, 64), Access.ALL));
    assertThrows(
        IllegalStateException.class,
        () -> other.registrations.registerControl(host(0x1000, 64), Access.ALL));
    EndpointRails rails = device.rails;
    assertThrows(IllegalStateException.class, () -> device.registrations.attach(rails));
    assertEquals(0, device.fabric.openRegions());
    other.teardown.close();
  }

  @Test
  void mailboxesAndPoolsTakeWhatTheCacheHoldsIdle() {
    with(Profile.CXI_CLIENT_KEY, CacheLimits.DEFAULT);
    for (int i = 0; i < 256; i++) {
      acquire(host(0x4000 + i * 64L, 64)).release();
    }
    assertEquals(512, device.fabric.openRegions());
    ControlRegistration mailbox =
        device.rails.registrations.registerControl(host(0x9_0000, 64), Access.REMOTE_WRITE);
    acquire(host(0x4000, 64)).release();
    device.fabric.failNext(Step.REGISTER, 0, FabricErrno.ENOMEM);
    LocalRegistration pool =
        device.rails.registrations.registerLocal(
            host(0xa_0000, 64), device.rails.controlRails(), Access.RECV);
    assertTrue(device.registrations.statistics().evictions() > 0);
    mailbox.close();
    pool.close();
  }

  @Test
  void aLargerOneThatIsReadyFirstIsNotHidden() {
    BufferRange small = host(0x2000, 64);
    BufferRange large = host(0x1000, 0x4000);
    DataRegistration[] nested = new DataRegistration[1];
    device.fabric.duringNextRegistration = () -> nested[0] = acquire(large);
    DataRegistration made = acquire(small);
    assertEquals(small, made.range());
    assertSame(nested[0], acquire(host(0x2000, 128)));
    assertSame(nested[0], acquire(small));
    made.release();
    assertFalse(made.isOpen());
    device.registrations.invalidate(MemoryKind.HOST, 0, 0x4fff, 1);
    assertFalse(nested[0].isOpen());
  }
}
