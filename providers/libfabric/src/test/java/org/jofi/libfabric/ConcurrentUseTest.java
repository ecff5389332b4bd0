package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.PostFlags;
import org.jofi.fabric.RegionRequest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Threads register, close, connect, write, send and poll on one domain at once, and on another one
 * beside it: whatever a domain keeps for all of them has to stay whole. {@code
 * -Djofi.stress.seconds=60} makes it long.
 */
@Timeout(600)
@Execution(ExecutionMode.CONCURRENT)
class ConcurrentUseTest {

  /** Three at least: within them what shares a map without a lock has failed each time. */
  private static final long SECONDS = Math.max(3, Long.getLong("jofi.stress.seconds", 3));

  private static final long BOUND_SECONDS = 60;
  private static final int MOST_BYTES = 64 * 1024;
  private static final int REGIONS = 200;

  /**
   * How many endpoints come and go, where a provider bears few. shm has room for 256 peers of an
   * endpoint, and forgets none that it met. sockets, which libfabric deprecates, stalls for good in
   * one of some hundred such sends, with both ends polled.
   */
  private static final Map<String, Integer> FEW_MEETINGS = Map.of("shm", 100, "sockets", 20);

  private static final int WRITE = 0;
  private static final int SEND = 1;
  private static final int RECEIVE = 2;
  private static final int LEFT_BEHIND = 3;

  private final AtomicLong keys = new AtomicLong();
  private final List<FutureTask<Long>> threads = new ArrayList<>();
  private final List<AtomicLong> done = new ArrayList<>();
  private volatile boolean stopped;

  private interface Work {
    /** Does it once. */
    void round(SplittableRandom random) throws InterruptedException;
  }

  private static final Set<String> LAYERED_OR_OLD = Set.of("tcp;ofi_rxm", "sockets");

  static Stream<String> providers() {
    return Loopback.providers().filter(provider -> !LAYERED_OR_OLD.contains(provider));
  }

  static Stream<String> others() {
    return Loopback.providers().filter(LAYERED_OR_OLD::contains);
  }

  @ParameterizedTest
  @MethodSource("others")
  @Tag("long")
  void allOfItAtOnceOverTheOthers(String provider) throws Exception {
    allOfItAtOnce(provider);
  }

  @ParameterizedTest
  @MethodSource("providers")
  void allOfItAtOnce(String provider) throws Exception {
    FabricInfo info = Loopback.info(provider);
    try (Arena arena = Arena.ofShared();
        Fabric fabric = FabricProvider.named("libfabric").open(info);
        Domain shared = fabric.openDomain();
        Domain other = fabric.openDomain();
        Station first = new Station("first", shared);
        Station second = new Station("second", shared);
        Station third = new Station("third", shared);
        Station fourth = new Station("fourth", other);
        Station host = new Station("host", shared)) {
      start("traffic within a domain", traffic(arena, first, second));
      start("traffic between domains", traffic(arena, third, fourth));
      start("registration", registration(arena, shared));
      start("registration", registration(arena, shared));
      start("registration in the other domain", registration(arena, other));
      Exchange exchange =
          new Exchange(arena, host, FEW_MEETINGS.getOrDefault(provider, Integer.MAX_VALUE));
      start("guests", exchange::guest);
      FutureTask<Long> guests = threads.getLast();
      start("host", exchange::host, guests::isDone);
      long start = System.nanoTime();
      while (!stopped && goesOn(System.nanoTime() - start)) {
        Thread.sleep(10);
      }
      stopped = true;
      List<Long> rounds = results();
      exchange.end();
      System.out.printf("%s: rounds of each thread %s%n", provider, rounds);
      assertTrue(rounds.stream().allMatch(count -> count > 0), rounds::toString);
    }
  }

  /** Until the time is over, and each thread has done something, for which there is a bound. */
  private boolean goesOn(long sinceStart) {
    return sinceStart < TimeUnit.SECONDS.toNanos(SECONDS)
        || (sinceStart < TimeUnit.SECONDS.toNanos(SECONDS + BOUND_SECONDS)
            && done.stream().anyMatch(rounds -> rounds.get() == 0));
  }

  private void start(String name, Work work) {
    start(name, work, () -> true);
  }

  /** Goes on until the time is over, and that holds too. */
  private void start(String name, Work work, BooleanSupplier mayEnd) {
    AtomicLong rounds = new AtomicLong();
    SplittableRandom random = new SplittableRandom(threads.size());
    FutureTask<Long> task =
        new FutureTask<>(
            () -> {
              try {
                for (; !stopped || !mayEnd.getAsBoolean(); rounds.incrementAndGet()) {
                  work.round(random);
                }
              } finally {
                stopped = true;
              }
              return rounds.get();
            });
    done.add(rounds);
    threads.add(task);
    Thread.ofPlatform().daemon().name(name).start(task);
  }

  /** What the threads did. All have ended when the first failure among them is thrown. */
  private List<Long> results() throws InterruptedException {
    List<Long> rounds = new ArrayList<>();
    AssertionError failure = null;
    for (FutureTask<Long> thread : threads) {
      try {
        rounds.add(thread.get(BOUND_SECONDS, TimeUnit.SECONDS));
      } catch (ExecutionException | TimeoutException why) {
        AssertionError next = new AssertionError("a thread failed, or hangs in the provider", why);
        if (failure == null) {
          failure = next;
        } else {
          failure.addSuppressed(next);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
    return rounds;
  }

  private MemoryRegion register(Domain domain, MemorySegment memory, long access) {
    return domain.register(
        RegionRequest.host(memory, access).withRequestedKey(keys.incrementAndGet()));
  }

  /** Regions come and go, as those of buffers that nobody uses just now. */
  private Work registration(Arena arena, Domain domain) {
    MemorySegment memory = arena.allocate(MOST_BYTES, 4096);
    return random -> {
      List<MemoryRegion> open = new ArrayList<>();
      for (int left = REGIONS; left > 0 || !open.isEmpty(); ) {
        if (left > 0 && random.nextBoolean()) {
          open.add(register(domain, memory, Access.ALL));
          left--;
        } else if (!open.isEmpty()) {
          open.remove(random.nextInt(open.size())).close();
        }
      }
    };
  }

  /** Writes and sends into memory that is registered for the one message. */
  private Work traffic(Arena arena, Station from, Station to) {
    MemorySegment source = arena.allocate(MOST_BYTES, 4096);
    MemorySegment written = arena.allocate(MOST_BYTES, 4096);
    MemorySegment sent = arena.allocate(MOST_BYTES, 4096);
    long peer = from.peers.insert(to.endpoint.address());
    boolean virtual = to.domain.info().mrModes().contains(MrMode.VIRT_ADDR);
    return random -> {
      int bytes = 1 + random.nextInt(random.nextBoolean() ? 1000 : MOST_BYTES);
      long seed = random.nextLong();
      fill(source, bytes, seed);
      MemoryRegion local = register(from.domain, source, Access.SEND | Access.WRITE);
      MemoryRegion target = register(to.domain, written, Access.REMOTE_WRITE);
      MemoryRegion landing = register(to.domain, sent, Access.RECV);
      to.post(
          "a receive",
          from,
          RECEIVE,
          () ->
              to.endpoint.recv(
                  sent.address(), bytes, landing.descriptor(), AddressVector.ANY, RECEIVE));
      from.post(
          "a write",
          to,
          WRITE,
          () ->
              from.endpoint.write(
                  source.address(),
                  bytes,
                  local.descriptor(),
                  peer,
                  virtual ? written.address() : 0,
                  target.key(),
                  WRITE,
                  PostFlags.DELIVERY_COMPLETE));
      from.post(
          "a send",
          to,
          SEND,
          () -> from.endpoint.send(source.address(), bytes, local.descriptor(), peer, SEND));
      from.await("a write", to, WRITE);
      from.await("a send", to, SEND);
      to.await("a receive", from, RECEIVE);
      check(written, bytes, seed, "write");
      check(sent, bytes, seed, "message");
      target.close();
      landing.close();
      local.close();
    };
  }

  /** Endpoints that come, send one message, and go with a receive in flight. */
  private final class Exchange {
    private static final int BYTES = 512;

    private final MemorySegment landings;
    private final MemorySegment source;
    private final MemoryRegion region;
    private final Station host;
    private final byte[] address;
    private final int most;
    private final AtomicLong arrived = new AtomicLong();
    private boolean hosting;
    private long sent;

    Exchange(Arena arena, Station host, int most) {
      this.host = host;
      this.most = most;
      landings = arena.allocate((long) Station.SLOTS * BYTES, 4096);
      source = arena.allocate(BYTES, 4096);
      region = register(host.domain, landings, Access.RECV);
      address = host.endpoint.address();
    }

    void host(SplittableRandom random) {
      if (!hosting) {
        hosting = true;
        for (int slot = 0; slot < Station.SLOTS; slot++) {
          receive(slot);
        }
      }
      host.poll();
      for (Integer slot = host.takeReceived(); slot != null; slot = host.takeReceived()) {
        check(landings.asSlice((long) slot * BYTES), BYTES, arrived.get(), "a guest's message");
        receive(slot);
        arrived.incrementAndGet();
      }
      Station.rest();
    }

    /** After its last guest. What stands in the region goes first. */
    void end() {
      host.endpoint.close();
      region.close();
    }

    private void receive(int slot) {
      host.post(
          "a receive",
          host,
          slot,
          () ->
              host.endpoint.recv(
                  landings.address() + (long) slot * BYTES,
                  BYTES,
                  region.descriptor(),
                  AddressVector.ANY,
                  slot));
    }

    void guest(SplittableRandom random) {
      try (Station guest = new Station("guest", host.domain);
          Arena arena = Arena.ofShared()) {
        MemorySegment memory = arena.allocate(BYTES, 4096);
        MemoryRegion landing = register(guest.domain, memory, Access.RECV);
        guest.post(
            "a receive",
            guest,
            LEFT_BEHIND,
            () ->
                guest.endpoint.recv(
                    memory.address(), BYTES, landing.descriptor(), AddressVector.ANY, LEFT_BEHIND));
        if (sent < most) {
          send(guest);
        }
        guest.endpoint.close();
        landing.close();
      }
    }

    private void send(Station guest) {
      long peer = guest.peers.insert(address);
      fill(source, BYTES, sent);
      MemoryRegion local = register(guest.domain, source, Access.SEND);
      guest.post(
          "a guest's send",
          guest,
          SEND,
          () -> guest.endpoint.send(source.address(), BYTES, local.descriptor(), peer, SEND));
      guest.await("a guest's send", guest, SEND);
      sent++;
      local.close();
    }
  }

  private static void fill(MemorySegment memory, int bytes, long seed) {
    for (int i = 0; i < bytes; i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, at(seed, i));
    }
  }

  private static void check(MemorySegment memory, int bytes, long seed, String what) {
    for (int i = 0; i < bytes; i++) {
      if (memory.get(ValueLayout.JAVA_BYTE, i) != at(seed, i)) {
        throw new AssertionError("%s: byte %d of %d differs".formatted(what, i, bytes));
      }
    }
  }

  private static byte at(long seed, int index) {
    long mixed = (seed * 0x9E3779B97F4A7C15L + index) * 0xBF58476D1CE4E5B9L;
    return (byte) (mixed >>> 56);
  }
}
