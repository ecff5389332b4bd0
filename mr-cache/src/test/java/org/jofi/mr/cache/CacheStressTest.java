package org.jofi.mr.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.EndpointRegistrations;
import org.jofi.mr.RegisteredArena;
import org.jofi.mr.recording.Device;
import org.jofi.mr.recording.MultiRail;
import org.jofi.mr.recording.RecordedRegion;
import org.jofi.mr.recording.RecordingFabric;
import org.jofi.mr.recording.RecordingFabric.Profile;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheCounters;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationBusyException;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.mr.teardown.TeardownException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Eight threads hit, miss, evict, invalidate, and close endpoints and arenas, all at once. What a
 * thread holds in use must be registered, for the whole range, on its own endpoint, all the while;
 * and at the end nothing may be left. {@code -Djofi.cache.stress.rounds=N} makes each run longer.
 */
class CacheStressTest {
  private static final int THREADS = 8;

  /** Of each thread. */
  private static final int ROUNDS = Integer.getInteger("jofi.cache.stress.rounds", 10_000);

  private static final int RANGES = 24;
  private static final int UNIT = 1000;

  private record Shared(
      Device device, AtomicReference<MultiRail> endpoint, AtomicLong checked, AtomicLong refused) {}

  @ParameterizedTest
  @Timeout(120)
  @CsvSource({"true", "false"})
  void nothingIsEverWrong(boolean endpointScope) throws Exception {
    Profile profile = endpointScope ? Profile.CXI_CLIENT_KEY.withKeyBytes(2) : Profile.TCP;
    Device device = new Device(profile, 2, 1, CacheLimits.DEFAULT.withIdle(6, 30 * UNIT));
    Shared shared =
        new Shared(device, new AtomicReference<>(device.rails), new AtomicLong(), new AtomicLong());
    List<Future<?>> running = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      for (int thread = 0; thread < THREADS; thread++) {
        SplittableRandom random = new SplittableRandom(thread);
        boolean closes = thread == 0;
        boolean reallocates = thread == 1;
        running.add(
            threads.submit(
                () -> {
                  for (int round = 0; round < ROUNDS; round++) {
                    if (closes) {
                      disturb(shared, random);
                    } else if (reallocates && random.nextBoolean()) {
                      reallocate(shared);
                    } else {
                      use(shared, random);
                    }
                  }
                }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
    MultiRail last = shared.endpoint.get();
    if (last != device.rails) {
      last.teardown.close();
    }
    CacheCounters.Snapshot statistics = device.registrations.statistics();
    device.close();
    assertEquals(0, device.fabric.openRegions());
    System.out.printf(
        "stress, endpoint scope %s: %d uses checked, %d refused, %s%n",
        endpointScope, shared.checked.get(), shared.refused.get(), statistics);
    assertTrue(shared.checked.get() > 1000, "too little happened");
    assertTrue(statistics.hits() > 0 && statistics.misses() > 0 && statistics.evictions() > 0);
  }

  private static BufferRange range(SplittableRandom random) {
    int first = random.nextInt(RANGES);
    int length = 1 + random.nextInt(4);
    long address = 0x10_0000L + (long) first * UNIT;
    return random.nextInt(8) == 0
        ? BufferRange.host(address, (long) length * UNIT)
        : BufferRange.host(address, (long) length * UNIT).ofAllocation(1);
  }

  private static void use(Shared shared, SplittableRandom random) {
    MultiRail endpoint = shared.endpoint.get();
    BufferRange range = range(random);
    boolean leases = random.nextBoolean();
    DataRegistration registration;
    try {
      registration =
          leases
              ? endpoint.registrations.acquire(range, Access.ALL)
              : endpoint.registrations.use(range, Access.ALL);
    } catch (IllegalStateException closed) {
      shared.refused.incrementAndGet();
      return;
    } catch (RegistrationException failed) {
      // An endpoint closed between the look at it and its use, or a planted failure.
      shared.refused.incrementAndGet();
      return;
    }
    if (!leases) {
      check(shared, endpoint, registration, range);
      registration.endUse();
      return;
    }
    if (registration.beginUse()) {
      check(shared, endpoint, registration, range);
      if (random.nextBoolean()) {
        registration.release();
        registration.endUse();
        return;
      }
      registration.endUse();
    }
    registration.release();
  }

  private static void check(
      Shared shared, MultiRail endpoint, DataRegistration registration, BufferRange range) {
    BufferRange whole = registration.range();
    assertTrue(
        whole.address() <= range.address()
            && range.address() + range.lengthBytes() <= whole.address() + whole.lengthBytes()
            && whole.allocationId() == range.allocationId());
    RecordingFabric fabric = shared.device.fabric;
    for (int rail = 0; rail < registration.rails(); rail++) {
      synchronized (fabric) {
        long descriptor = registration.descriptor(rail);
        RecordedRegion region =
            fabric.domains.get(rail).regions.stream()
                .filter(candidate -> candidate.descriptor() == descriptor)
                .findFirst()
                .orElseThrow(() -> new AssertionError(registration + " is in use, but closed"));
        assertTrue(region.isUsable());
        assertEquals(whole.address(), region.request().address());
        assertEquals(region.key(), registration.key(rail));
        if (region.endpoint() != null) {
          assertEquals(endpoint.dataRails().get(rail).endpoint(), region.endpoint());
        }
      }
    }
    shared.checked.incrementAndGet();
  }

  /** Closes the endpoint and opens another; frees memory; makes room; lets a call fail. */
  private static void disturb(Shared shared, SplittableRandom random) {
    Device device = shared.device;
    switch (random.nextInt(40)) {
      case 0 -> {
        MultiRail next = new MultiRail("endpoint", device.fabric, device.registrations, 2, 1);
        MultiRail old = shared.endpoint.getAndSet(next);
        if (old != device.rails) {
          boolean closed = false;
          while (!closed) {
            closed = tryClose(old);
          }
        }
      }
      case 1, 2, 3 -> {
        try {
          device.registrations.invalidate(
              MemoryKind.HOST, 0, 0x10_0000L + (long) random.nextInt(RANGES) * UNIT, UNIT);
        } catch (RegistrationBusyException busy) {
          shared.refused.incrementAndGet();
        }
      }
      case 4 -> device.registrations.evictIdle();
      case 7, 8, 9 -> invalidateAll(shared);
      case 6 -> useArena(shared);
      case 5 ->
          device.fabric.failNext(
              RecordingFabric.Step.REGISTER, random.nextInt(2), FabricErrno.ENOMEM);
      default -> use(shared, random);
    }
  }

  /** Registers memory of an arena, frees it, and frees nothing that is still registered. */
  private static void useArena(Shared shared) {
    RegisteredArena arena = shared.device.registrations.openArena();
    BufferRange range = BufferRange.host(arena.allocate(UNIT, 8));
    DataRegistration held = null;
    try {
      held = shared.endpoint.get().registrations.acquire(range, Access.ALL);
    } catch (RegistrationException failed) {
      shared.refused.incrementAndGet();
    }
    arena.close();
    if (held != null) {
      assertFalse(held.beginUse());
      held.release();
      assertFalse(held.isOpen());
    }
  }

  /**
   * Memory of an unknown allocation that nobody else holds: after its release it may be another.
   */
  private static void reallocate(Shared shared) {
    BufferRange range = BufferRange.host(0x50_0000L, UNIT);
    EndpointRegistrations registrations = shared.endpoint.get().registrations;
    try {
      DataRegistration first = registrations.acquire(range, Access.ALL);
      first.release();
      DataRegistration second = registrations.acquire(range, Access.ALL);
      assertNotSame(first, second);
      second.release();
    } catch (IllegalStateException | RegistrationException failed) {
      // As in use.
      shared.refused.incrementAndGet();
    }
  }

  /** Refused more often than not, and then as if it had never been asked for. */
  private static void invalidateAll(Shared shared) {
    try {
      shared.device.registrations.invalidate(MemoryKind.HOST, 0, 0x10_0000L, 0x50_0000L);
    } catch (RegistrationBusyException busy) {
      shared.refused.incrementAndGet();
    }
  }

  private static boolean tryClose(MultiRail endpoint) {
    try {
      endpoint.teardown.close();
      return true;
    } catch (TeardownException inUse) {
      LockSupport.parkNanos(50_000);
      return false;
    }
  }
}
