package org.jofi.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.MessageOrder;
import org.jofi.fabric.PostFlags;
import org.jofi.simulated.contract.Strictness;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks as threads, in real time. */
@Timeout(300)
class RealTimeTest {
  private static final int RANKS = 3;
  private static final int ROUNDS = 100;
  private static final int BYTES = 4096;

  /** Where each rank's window is, and its key. */
  private record Windows(AtomicLongArray addresses, AtomicLongArray keys) {
    void publish(int rank, long address, long key) {
      addresses.set(rank, address);
      keys.set(rank, key);
    }

    long address(int rank) {
      return addresses.get(rank);
    }

    long key(int rank) {
      return keys.get(rank);
    }
  }

  /** A rank of a ring: sends to the next, receives from the one before, and writes as well. */
  private record Rank(
      SimulatedProvider provider,
      String profile,
      int number,
      AtomicReferenceArray<Node> nodes,
      Windows windows,
      CyclicBarrier barrier,
      AtomicInteger finished)
      implements Callable<Integer> {

    @Override
    public Integer call() throws Exception {
      try (Arena memory = Arena.ofConfined()) {
        var info = provider.discover(ordered().withProvider(profile)).get(number % 2);
        Node node = new Node(provider, info, 32);
        nodes.set(number, node);
        MemorySegment out = memory.allocate(BYTES, 64);
        MemorySegment in = memory.allocate(BYTES, 64);
        MemorySegment window = memory.allocate(2 * BYTES, 64);
        MemoryRegion outRegion = node.register(out, Access.LOCAL);
        MemoryRegion inRegion = node.register(in, Access.LOCAL);
        MemoryRegion windowRegion = node.register(window, Access.REMOTE_WRITE);
        windows.publish(number, node.base(window), windowRegion.key());
        await(barrier);
        int next = (number + 1) % RANKS;
        node.know(nodes.get(next));
        for (int round = 1; round <= ROUNDS; round++) {
          exchange(node, round, out, outRegion, in, inRegion, window, next);
        }
        // The others may still wait for what this rank's poll brings them.
        finished.incrementAndGet();
        await(node, () -> finished.get() == RANKS);
        closeInOrder(node, List.of(outRegion, inRegion, windowRegion));
        return ROUNDS;
      }
    }

    private void exchange(
        Node node,
        int round,
        MemorySegment out,
        MemoryRegion outRegion,
        MemorySegment in,
        MemoryRegion inRegion,
        MemorySegment window,
        int next) {
      // The next round's write may overtake this round's token: keep what came of it.
      node.done.removeIf(done -> done.context() >= 0);
      long half = round % 2 == 0 ? 0 : BYTES;
      out.fill((byte) (round + number));
      post(
          node,
          () ->
              node.endpoint.recv(in.address(), BYTES, inRegion.descriptor(), AddressVector.ANY, 1));
      post(node, () -> node.endpoint.send(out.address(), BYTES, outRegion.descriptor(), 0, 2));
      await(node, () -> node.has(1) && node.has(2));
      int before = (number + RANKS - 1) % RANKS;
      assertAll(in, (byte) (round + before));
      boolean withData = Profile.named(profile).behaviour().writeData();
      post(
          node,
          () ->
              withData
                  ? node.endpoint.writeData(
                      out.address(),
                      BYTES,
                      outRegion.descriptor(),
                      round,
                      0,
                      windows.address(next) + half,
                      windows.key(next),
                      3,
                      PostFlags.NONE)
                  : node.endpoint.write(
                      out.address(),
                      BYTES,
                      outRegion.descriptor(),
                      0,
                      windows.address(next) + half,
                      windows.key(next),
                      3,
                      PostFlags.DELIVERY_COMPLETE));
      await(node, () -> node.has(3) && (!withData || arrived(node, round)));
      if (withData) {
        assertAll(window.asSlice(half, BYTES), (byte) (round + before));
      }
      // A token around the ring: nobody starts the next round before all have looked.
      post(node, () -> node.endpoint.recv(0, 0, 0, AddressVector.ANY, 4));
      post(node, () -> node.endpoint.send(0, 0, 0, 0, 5));
      await(node, () -> node.has(4) && node.has(5));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"efa", "cxi", "cxi-client-key", "tcp"})
  void ranksAsThreadsExchangeEveryByte(String profile) throws Exception {
    SimulatedProvider provider = new SimulatedProvider(Strictness.THROW, FaultPlan.survivable(), 2);
    AtomicReferenceArray<Node> nodes = new AtomicReferenceArray<>(RANKS);
    Windows windows = new Windows(new AtomicLongArray(RANKS), new AtomicLongArray(RANKS));
    CyclicBarrier barrier = new CyclicBarrier(RANKS);
    AtomicInteger finished = new AtomicInteger();
    List<Future<Integer>> ranks = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(RANKS)) {
      for (int number = 0; number < RANKS; number++) {
        ranks.add(
            threads.submit(new Rank(provider, profile, number, nodes, windows, barrier, finished)));
      }
      for (Future<Integer> rank : ranks) {
        assertEquals(ROUNDS, rank.get(240, TimeUnit.SECONDS));
      }
    }
  }

  /** Messages must not overtake each other: each round's receives are told apart by their order. */
  private static FabricHints ordered() {
    return FabricHints.any().withMessageOrder(Set.of(MessageOrder.SAS));
  }

  private static boolean arrived(Node node, int round) {
    return node.done.stream()
        .anyMatch(d -> d.context() == CompletionQueue.NO_CONTEXT && d.data() == round);
  }

  private static void closeInOrder(Node node, List<MemoryRegion> regions) {
    boolean regionsFirst = node.info.mrModes().contains(org.jofi.fabric.MrMode.ENDPOINT);
    if (!regionsFirst) {
      node.endpoint.close();
    }
    regions.forEach(MemoryRegion::close);
    node.endpoint.close();
    node.queue.close();
    node.peers.close();
    node.domain.close();
    node.fabric.close();
  }

  private static void post(Node node, java.util.function.IntSupplier post) {
    int[] result = {-FabricErrno.EAGAIN};
    await(
        node,
        () -> {
          if (result[0] == -FabricErrno.EAGAIN) {
            result[0] = post.getAsInt();
          }
          return result[0] != -FabricErrno.EAGAIN;
        });
    assertEquals(0, result[0]);
  }

  private static void await(Node node, BooleanSupplier condition) {
    long deadline = System.nanoTime() + Duration.ofSeconds(90).toNanos();
    while (!condition.getAsBoolean()) {
      if (node.poll() == 0) {
        LockSupport.parkNanos(1_000);
      }
      assertTrue(System.nanoTime() - deadline < 0, () -> "no completion: " + node.done);
    }
  }

  private static void await(CyclicBarrier barrier) throws Exception {
    barrier.await(90, TimeUnit.SECONDS);
  }

  private static void assertAll(MemorySegment memory, byte expected) {
    for (long i = 0; i < memory.byteSize(); i++) {
      assertEquals(expected, memory.get(ValueLayout.JAVA_BYTE, i), "byte " + i);
    }
  }
}
