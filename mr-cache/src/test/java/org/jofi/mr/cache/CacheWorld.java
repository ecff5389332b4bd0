package org.jofi.mr.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jofi.fabric.Access;
import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegistrationScope;
import org.jofi.fabric.UnboundRegion;
import org.jofi.mr.DeviceRegistrations;
import org.jofi.mr.LocalRegistration;
import org.jofi.mr.recording.MultiRail;
import org.jofi.mr.recording.RecordedRegion;
import org.jofi.mr.recording.RecordingDomain;
import org.jofi.mr.recording.RecordingFabric;
import org.jofi.mr.recording.SteppingClock;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheCounters;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationBusyException;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.mr.registration.RequestNames;
import org.jofi.mr.scope.Rail;
import org.jofi.mr.teardown.Teardown;

/**
 * A device with a few multi-rail endpoints, the fabric under it, and the model beside it. Each
 * action is applied to both; {@link #check} compares them.
 */
final class CacheWorld {
  /** How the device looks. */
  record Shape(
      RecordingFabric.Profile profile, int dataRails, int controlRails, CacheLimits limits) {}

  /** What tells allocations of memory apart. */
  enum Identity {
    NOTHING,
    ID,
    ARENA
  }

  /** Memory as an action names it: a place, and a range of small units in one of two areas. */
  record Memory(
      MemoryKind kind, int device, boolean dmaBuf, Identity identity, int unit, int units) {
    private static final long BASE = 0x10000;
    private static final long UNIT = 1536;
    private static final long AREA = 8;

    int area() {
      return (int) (unit / AREA);
    }

    int place() {
      return (kind == MemoryKind.HOST ? 0 : 1 + device) * 2 + area();
    }

    BufferRange range(long allocationId, Arena arena) {
      long length = Math.min(units, (area() + 1) * AREA - unit);
      return new BufferRange(
          kind,
          device,
          identity == Identity.ID ? allocationId : BufferRange.UNKNOWN_ALLOCATION,
          identity == Identity.ARENA ? arena.scope() : null,
          BASE + unit * UNIT,
          length * UNIT,
          dmaBuf ? new DmaBuf(7 + unit, 0) : null);
    }

    long areaStart() {
      return BASE + area() * AREA * UNIT;
    }

    long areaLength() {
      return AREA * UNIT;
    }
  }

  private record Lease(
      MultiRail endpoint, DataRegistration registration, BufferRange range, long access) {}

  private static final int ENDPOINTS = 3;

  final Shape shape;
  final RecordingFabric fabric;
  private final DeviceRegistrations device;
  private final CacheModel model;
  private final MultiRail[] endpoints = new MultiRail[ENDPOINTS];
  private final List<Lease> leases = new ArrayList<>();
  private final long[] allocations = new long[6];
  private final Arena[] arenas = new Arena[allocations.length];
  private int opened;
  private int failTimes;
  private RecordingFabric.Step failStep = RecordingFabric.Step.REGISTER;
  private int failNic;
  private int failErrno;

  CacheWorld(Shape shape) {
    this.shape = shape;
    fabric = new RecordingFabric(shape.profile, Math.max(shape.dataRails, shape.controlRails));
    device =
        new DeviceRegistrations(
            List.copyOf(fabric.domains),
            shape.limits,
            new SteppingClock(),
            RequestNames.NONE,
            new SplittableRandom(1)::nextLong);
    model = new CacheModel(shape.limits);
    Arrays.setAll(allocations, i -> i + 1L);
    Arrays.setAll(arenas, i -> Arena.ofShared());
    openEndpoint(0);
  }

  void openEndpoint(int slot) {
    if (endpoints[slot % ENDPOINTS] == null) {
      MultiRail made =
          new MultiRail(
              "endpoint " + opened++, fabric, device, shape.dataRails, shape.controlRails);
      made.useEnded = model::endUse;
      made.settled = model::settle;
      endpoints[slot % ENDPOINTS] = made;
    }
  }

  private MultiRail endpoint(int slot) {
    return endpoints[slot % ENDPOINTS];
  }

  private boolean isEndpointScope() {
    return shape.profile.scope() == RegistrationScope.ENDPOINT;
  }

  // Actions.

  void failNext(RecordingFabric.Step step, int rail, int errno, int times) {
    failStep = step;
    failNic = rail % shape.dataRails;
    failErrno = errno;
    failTimes = step == RecordingFabric.Step.REGISTER || isEndpointScope() ? times : 0;
  }

  void acquire(int slot, Memory memory, long access) {
    find(slot, memory, access, false);
  }

  /** A request finds its memory's registration by itself, and is posted. */
  void use(int slot, Memory memory, long access) {
    find(slot, memory, access, true);
  }

  private static DataRegistration find(
      MultiRail endpoint, BufferRange range, long access, boolean use) {
    if (!use) {
      return endpoint.registrations.acquire(range, access);
    }
    return range.scope() == null || range.dmaBuf() != null || range.kind() != MemoryKind.HOST
        ? endpoint.registrations.use(range, access)
        : endpoint.registrations.use(range.scope(), range.address(), range.lengthBytes(), access);
  }

  private void found(
      MultiRail endpoint, DataRegistration got, BufferRange range, long access, boolean use) {
    if (use) {
      endpoint.postUsed(got, range);
    } else {
      leases.add(new Lease(endpoint, got, range, access));
    }
  }

  private void find(int slot, Memory memory, long access, boolean use) {
    MultiRail endpoint = endpoint(slot);
    if (endpoint == null) {
      return;
    }
    BufferRange range = memory.range(allocations[memory.place()], arenas[memory.place()]);
    long space = endpoint.registrations.generation();
    int[] before = calls();
    if (model.hits(space, range, access)) {
      DataRegistration got = find(endpoint, range, access, use);
      model.hit(got, space, range, access, use);
      assertEquals(Arrays.toString(before), Arrays.toString(calls()), "a hit called the provider");
      found(endpoint, got, range, access, use);
      return;
    }
    model.misses++;
    int failures = failTimes;
    failTimes = 0;
    boolean fails = failures > 0;
    int attempts = 1;
    boolean outOfResources = failErrno == FabricErrno.ENOMEM || failErrno == FabricErrno.ENOSPC;
    if (fails) {
      fabric.failNext(failStep, failNic, failErrno, failures);
      while (outOfResources
          && attempts <= failures
          && attempts < RegionOpenings.MOST_TRIES
          && model.makeRoom(range, RegionOpenings.leastEvicted(attempts))) {
        attempts++;
      }
      fails = failures >= attempts;
    }
    if (fails) {
      RegistrationException failed =
          assertThrows(RegistrationException.class, () -> find(endpoint, range, access, use));
      assertTrue(
          failed.getMessage().contains("rail " + failNic),
          () -> "error without rail: " + failed.getMessage());
    } else {
      DataRegistration got = find(endpoint, range, access, use);
      model.admit(got, space, range, access);
      if (use) {
        model.entries.get(got).uses++;
        model.release(got);
      }
      found(endpoint, got, range, access, use);
      assertEquals(range.withoutScope(), got.range());
      if (failures == 0) {
        requireCalls(before, shape.dataRails);
      }
    }
    assertEquals(failures > attempts, fabric.isFailureArmed(), "another number of attempts");
    fabric.failNothing();
  }

  private int[] calls() {
    return Arrays.stream(RecordingFabric.Step.values())
        .filter(step -> step != RecordingFabric.Step.CLOSE)
        .mapToInt(fabric::calls)
        .toArray();
  }

  private void requireCalls(int[] before, int rails) {
    int[] now = calls();
    assertEquals(rails, now[0] - before[0], "fi_mr_regattr");
    assertEquals(isEndpointScope() ? rails : 0, now[1] - before[1], "fi_mr_bind");
    assertEquals(isEndpointScope() ? rails : 0, now[2] - before[2], "fi_mr_enable");
  }

  void release(int index) {
    if (!leases.isEmpty()) {
      Lease lease = leases.remove(index % leases.size());
      lease.registration.release();
      model.release(lease.registration);
    }
  }

  void post(int index) {
    if (leases.isEmpty()) {
      return;
    }
    Lease lease = leases.get(index % leases.size());
    boolean closed = model.entries.get(lease.registration).closed;
    if (isAttached(lease.endpoint)) {
      assertEquals(!closed, lease.endpoint.post(lease.registration, lease.range));
      model.entries.get(lease.registration).uses += closed ? 0 : 1;
    }
  }

  private boolean isAttached(MultiRail endpoint) {
    return Arrays.asList(endpoints).contains(endpoint);
  }

  void complete(int slot, int index) {
    MultiRail endpoint = endpoint(slot);
    if (endpoint != null && !endpoint.requests.isEmpty()) {
      endpoint.complete(index % endpoint.requests.size());
    }
  }

  void closeEndpoint(int slot, boolean abort) {
    MultiRail endpoint = endpoint(slot);
    if (endpoint == null) {
      return;
    }
    if (abort) {
      assertEquals(0, endpoint.teardown.abort());
    } else {
      endpoint.teardown.close();
    }
    assertEquals(Teardown.Stage.CLOSED, endpoint.teardown.stage());
    endpoints[slot % ENDPOINTS] = null;
    if (isEndpointScope()) {
      model.closeSpace(endpoint.registrations.generation());
    }
    assertThrows(
        IllegalStateException.class,
        () -> endpoint.registrations.registerControl(BufferRange.host(4096, 64), Access.ALL));
  }

  void registerControl(int slot, int unit) {
    MultiRail endpoint = endpoint(slot);
    if (endpoint != null) {
      int[] before = calls();
      endpoint.mailboxes.add(
          endpoint.registrations.registerControl(
              BufferRange.host(0x900000L + unit * 64L, 64), Access.REMOTE_WRITE));
      requireCalls(before, shape.controlRails);
    }
  }

  void registerPool(int slot, int unit) {
    MultiRail endpoint = endpoint(slot);
    if (endpoint != null) {
      LocalRegistration pool =
          endpoint.registrations.registerLocal(
              BufferRange.host(0xa00000L + unit * 8192L, 8192),
              endpoint.controlRails(),
              Access.RECV);
      endpoint.pools.add(pool);
      endpoint.post(pool, endpoint.controlRails());
    }
  }

  void closeControl(int slot, int index) {
    MultiRail endpoint = endpoint(slot);
    if (endpoint != null && !endpoint.mailboxes.isEmpty()) {
      endpoint.mailboxes.remove(index % endpoint.mailboxes.size()).close();
    }
  }

  /** Frees an area and allocates it anew; with or without telling the cache. */
  void free(Memory memory, boolean told) {
    if (told && !invalidate(memory)) {
      return;
    }
    allocations[memory.place()] += allocations.length;
    arenas[memory.place()].close();
    arenas[memory.place()] = Arena.ofShared();
  }

  private boolean invalidate(Memory memory) {
    List<CacheModel.Entry> overlapping =
        model.overlapping(memory.kind, memory.device, memory.areaStart(), memory.areaLength());
    Runnable call =
        () ->
            device.invalidate(memory.kind, memory.device, memory.areaStart(), memory.areaLength());
    if (overlapping.stream().anyMatch(entry -> entry.uses > 0)) {
      RegistrationBusyException busy = assertThrows(RegistrationBusyException.class, call::run);
      assertEquals(
          overlapping.stream().filter(entry -> entry.uses > 0).count(), busy.inFlight().size());
      return false;
    }
    call.run();
    overlapping.forEach(entry -> entry.closed = true);
    return true;
  }

  void closeFreed() {
    assertEquals(model.closeFreed(), device.closeFreed(range -> false));
  }

  void evictIdle() {
    assertEquals(model.evict(Long.MAX_VALUE, Integer.MAX_VALUE), device.evictIdle());
  }

  /** Steps of registration in every order but the right one: refused, and nothing is left. */
  void misorder(int slot) {
    MultiRail endpoint = endpoint(slot);
    if (endpoint == null) {
      return;
    }
    Rail rail = endpoint.dataRails().getFirst();
    var request = BufferRange.host(0xb00000L, 64).request(Access.SEND, 0xff);
    if (!isEndpointScope()) {
      assertThrows(IllegalStateException.class, () -> rail.domain().registerForEndpoint(request));
      return;
    }
    assertThrows(IllegalStateException.class, () -> rail.domain().register(request));
    if (shape.profile.keys() == KeyOwner.APPLICATION) {
      return; // The key might be a live one.
    }
    UnboundRegion unbound = rail.domain().registerForEndpoint(request);
    BoundRegion bound = unbound.bind(rail.endpoint());
    assertThrows(IllegalStateException.class, () -> unbound.bind(rail.endpoint()));
    MemoryRegion region = bound.enable();
    assertThrows(IllegalStateException.class, bound::enable);
    bound.close();
    unbound.close();
    assertTrue(fabric.regions().stream().anyMatch(r -> r.descriptor() == region.descriptor()));
    region.close();
  }

  // Comparison.

  void check() {
    fabric.requireNoViolation();
    assertEquals(expectedRegions(), fabric.openRegions(), "regions open in the fabric");
    assertFalse(model.isOverBudget(), "the model is over budget");
    CacheCounters.Snapshot now = device.statistics();
    assertEquals(model.hits, now.hits(), "hits");
    assertEquals(model.misses, now.misses(), "misses");
    assertEquals(model.evictions, now.evictions(), "evictions");
    assertEquals(model.open().size(), now.registrations(), "registrations");
    assertEquals(
        model.open().stream().mapToLong(entry -> entry.range.lengthBytes()).sum(),
        now.bytesPinned(),
        "bytes pinned");
    model.entries.forEach(
        (registration, entry) -> {
          assertEquals(!entry.closed, registration.isOpen(), () -> registration + " is open");
          CachedRegistration cached = (CachedRegistration) registration;
          assertEquals(entry.leases, cached.leases(), () -> registration + " leases");
          assertEquals(entry.uses, cached.uses(), () -> registration + " uses");
        });
    model
        .entries
        .entrySet()
        .removeIf(e -> e.getValue().closed && e.getValue().leases == 0 && e.getValue().uses == 0);
    leases.stream().filter(lease -> lease.registration.isOpen()).forEach(this::checkRails);
  }

  private int expectedRegions() {
    int regions = model.open().size() * shape.dataRails;
    for (MultiRail endpoint : endpoints) {
      if (endpoint != null) {
        regions += (endpoint.mailboxes.size() + endpoint.pools.size()) * shape.controlRails;
      }
    }
    return regions;
  }

  private void checkRails(Lease lease) {
    for (int rail = 0; rail < shape.dataRails; rail++) {
      RecordingDomain domain = fabric.domains.get(rail);
      long descriptor = lease.registration.descriptor(rail);
      RecordedRegion region =
          domain.regions.stream()
              .filter(candidate -> candidate.descriptor() == descriptor)
              .findFirst()
              .orElseThrow(() -> new AssertionError(lease + " has no region on " + domain.info()));
      var request = region.request();
      assertTrue(region.isUsable());
      assertTrue(
          request.kind() == lease.range.kind()
              && request.device() == lease.range.device()
              && request.address() <= lease.range.address()
              && lease.range.address() + lease.range.lengthBytes()
                  <= request.address() + request.lengthBytes()
              && (request.access() & lease.access) == lease.access,
          () -> request + " does not serve " + lease);
      if (isEndpointScope()) {
        assertEquals(
            lease.endpoint.dataRails().get(rail).endpoint(), region.endpoint(), "bound endpoint");
      }
      if ((lease.registration.access() & Access.REMOTE) != 0) {
        assertEquals(region.key(), lease.registration.key(rail));
      }
    }
  }

  /** Ends everything, and requires that nothing is left. */
  void finish() {
    for (int slot = 0; slot < ENDPOINTS; slot++) {
      closeEndpoint(slot, false);
    }
    while (!leases.isEmpty()) {
      release(0);
      check();
    }
    device.close();
    fabric.close();
    fabric.requireNoViolation();
    assertEquals(0, fabric.openRegions());
  }
}
