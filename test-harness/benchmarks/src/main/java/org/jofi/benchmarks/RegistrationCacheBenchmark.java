package org.jofi.benchmarks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.SystemNanoClock;
import org.jofi.fabric.Access;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.DeviceRegistrations;
import org.jofi.mr.EndpointRegistrations;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RequestNames;
import org.jofi.mr.scope.EndpointRails;
import org.jofi.mr.scope.Rail;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.ThreadParams;

/**
 * What a hit costs: a lease taken and given back, of a random one of so many registered buffers.
 * The linear scan is the lookup alone, without leases or threads, over an array sorted by address.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class RegistrationCacheBenchmark {
  private static final long BASE = 0x7f00_0000_0000L;
  private static final long STRIDE = 1 << 20;
  private static final long LENGTH = 64 << 10;

  /** Registered buffers, all idle in the cache. */
  @State(Scope.Benchmark)
  @SuppressWarnings("NullAway.Init") // JMH calls register() first.
  public static class Registered {
    /** How many. */
    @Param({"100", "10000", "100000"})
    int entries;

    EndpointRegistrations registrations;
    long[] firstPages;
    long[] lastPages;

    /** Registers them, in random order. */
    @Setup(Level.Trial)
    public void register() {
      InstantNic nic = new InstantNic("nic0");
      List<Rail> rails = List.of(new Rail(nic, nic.idleEndpoint("rail 0")));
      registrations =
          new DeviceRegistrations(
                  List.of(nic),
                  CacheLimits.DEFAULT.withIdle(Integer.MAX_VALUE, Long.MAX_VALUE),
                  SystemNanoClock.INSTANCE,
                  RequestNames.NONE,
                  new SplittableRandom(1)::nextLong)
              .attach(new OneRail(rails));
      int[] order = new int[entries];
      SplittableRandom random = new SplittableRandom(1);
      for (int i = 0; i < entries; i++) {
        int at = random.nextInt(i + 1);
        order[i] = order[at];
        order[at] = i;
      }
      for (int i : order) {
        registrations.acquire(range(i), Access.ALL).release();
      }
      firstPages = new long[entries];
      lastPages = new long[entries];
      for (int i = 0; i < entries; i++) {
        firstPages[i] = (BASE + i * STRIDE) >>> 12;
        lastPages[i] = (BASE + i * STRIDE + LENGTH - 1) >>> 12;
      }
    }

    BufferRange range(int index) {
      return buffer(index, 0, LENGTH);
    }
  }

  /** Registered memory of an arena, which a program that registers it itself also holds. */
  @State(Scope.Benchmark)
  @SuppressWarnings("NullAway.Init") // JMH calls hold() first.
  public static class Segments extends Registered {
    final MemorySegment.Scope arena = Arena.ofShared().scope();
    DataRegistration[] held;

    /** Leases all of them. */
    @Setup(Level.Trial)
    public void hold() {
      held = new DataRegistration[entries];
      for (int i = 0; i < entries; i++) {
        held[i] = registrations.acquire(range(i), Access.SEND);
      }
    }

    @Override
    BufferRange range(int index) {
      return BufferRange.host(arena, BASE + index * STRIDE, LENGTH);
    }
  }

  /** Which buffer a thread asks for next: any, at random (xorshift). */
  @State(Scope.Thread)
  public static class Picks {
    private long random = new SplittableRandom().nextLong() | 1;

    int next(int below) {
      random ^= random << 13;
      random ^= random >>> 7;
      random ^= random << 17;
      return (int) (((random >>> 32) * below) >>> 32);
    }
  }

  private record OneRail(List<Rail> dataRails) implements EndpointRails {
    @Override
    public String label() {
      return "benchmark";
    }

    @Override
    public List<Rail> controlRails() {
      return dataRails;
    }
  }

  private static BufferRange buffer(int index, long offset, long length) {
    return BufferRange.host(BASE + index * STRIDE + offset, length).ofAllocation(1);
  }

  /** A hit on exactly what was registered, and its release. */
  @Benchmark
  @Threads(1)
  public DataRegistration hit(Registered registered, Picks picks) {
    return lease(registered, picks.next(registered.entries), 0, LENGTH);
  }

  /**
   * A hit on one of a hundred of those registered, and its release: what the number of others adds
   * once memory's caches are left out of account.
   */
  @Benchmark
  @Threads(1)
  public DataRegistration hitAmongHundred(Registered registered, Picks picks) {
    int stride = registered.entries / 100;
    return lease(registered, picks.next(100) * stride, 0, LENGTH);
  }

  /** A hit on a part of what was registered, and its release. */
  @Benchmark
  @Threads(1)
  public DataRegistration hitInside(Registered registered, Picks picks) {
    return lease(registered, picks.next(registered.entries), LENGTH / 4, LENGTH / 2);
  }

  /** As {@link #hit}, by two threads at once, each with buffers of its own. */
  @Benchmark
  @Threads(2)
  public DataRegistration hitByTwoThreads(Registered registered, Picks picks, ThreadParams thread) {
    int half = registered.entries / 2;
    return lease(registered, thread.getThreadIndex() % 2 * half + picks.next(half), 0, LENGTH);
  }

  /**
   * As {@link #hit}, by two threads at once over the same buffers: the lease count of a buffer
   * travels between the cores.
   */
  @Benchmark
  @Threads(2)
  public DataRegistration hitSharedByTwoThreads(Registered registered, Picks picks) {
    return lease(registered, picks.next(registered.entries), 0, LENGTH);
  }

  /** A cache of a thread's own. */
  @State(Scope.Thread)
  public static class OwnRegistered extends Registered {}

  /**
   * As {@link #hit}, by two threads at once that share nothing at all: how far the machine itself
   * lets two threads run side by side.
   */
  @Benchmark
  @Threads(2)
  public DataRegistration hitByTwoThreadsInOwnCaches(OwnRegistered registered, Picks picks) {
    return lease(registered, picks.next(registered.entries), 0, LENGTH);
  }

  private static DataRegistration lease(
      Registered registered, int entry, long offset, long length) {
    long address = BASE + entry * STRIDE + offset;
    DataRegistration registration =
        registered.registrations.acquire(MemoryKind.HOST, 0, 1, address, length, Access.ALL);
    registration.release();
    return registration;
  }

  /** What a request with a registration does with it. */
  @Benchmark
  @Threads(1)
  public DataRegistration requestOfRegistration(Segments registered, Picks picks) {
    DataRegistration held = registered.held[picks.next(registered.entries)];
    held.beginUse();
    held.endUse();
    return held;
  }

  /** What a request with a segment does: as that, and it finds the registration. */
  @Benchmark
  @Threads(1)
  public DataRegistration requestOfSegment(Segments registered, Picks picks) {
    return request(registered, picks.next(registered.entries));
  }

  /** As {@link #requestOfSegment}, of one of a hundred. */
  @Benchmark
  @Threads(1)
  public DataRegistration requestOfSegmentAmongHundred(Segments registered, Picks picks) {
    return request(registered, picks.next(100) * (registered.entries / 100));
  }

  private static DataRegistration request(Segments registered, int entry) {
    MemorySegment.Scope arena = registered.arena;
    if (!arena.isAlive()) {
      throw new IllegalStateException("the arena is closed");
    }
    DataRegistration found =
        registered.registrations.use(arena, BASE + entry * STRIDE, LENGTH, Access.SEND);
    found.endUse();
    return found;
  }

  /** Finds a buffer's pages by looking at one entry after the other. */
  @Benchmark
  @Threads(1)
  public int linearScan(Registered registered, Picks picks) {
    long address = BASE + picks.next(registered.entries) * STRIDE;
    long first = address >>> 12;
    long last = (address + LENGTH - 1) >>> 12;
    for (int i = 0; i < registered.entries; i++) {
      if (registered.firstPages[i] <= first && last <= registered.lastPages[i]) {
        return i;
      }
    }
    throw new AssertionError("not found: 0x" + Long.toHexString(address));
  }
}
