package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Result;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** As many communicators as a device may well have, over the providers that run on any machine. */
@Tag("libfabric")
class ManyCommunicatorsTest {
  private static final int COUNT = 4096;
  private static final int AT_ONCE = 64;
  private static final int BYTES = 4096;
  private static final int ROUNDS = 200;

  /** For the least of both, on a machine that others use, too. */
  private static final int MOST_ROUNDS = 4_000;

  private static final int POLLS = 2_000;

  /**
   * What a poll may take longer in ns, by the clock and by other programs. Whatever was done for
   * each communicator would take more than a thousand.
   */
  private static final int NOISE_NS = 100;

  private static final long BOUND_NS = 90_000_000_000L;

  @ParameterizedTest
  @ValueSource(strings = {"net", "tcp", "shm"})
  void allConnectSomeSendAndAllClose(String provider) {
    Node[] nodes = RealNics.nodes(provider, 1);
    Node left = nodes[0];
    Node right = nodes[1];
    try (Arena arena = Arena.ofShared()) {
      List<SendConnection> sends = new ArrayList<>();
      List<ReceiveConnection> receives = new ArrayList<>();
      Listener listener = right.connections.connector().listen(null);
      ConnectHandle handle = right.connections.connector().handle(listener);
      for (int made = 0; made < COUNT; made += AT_ONCE) {
        connect(left, right, listener, handle, sends, receives, AT_ONCE);
      }
      comparePolls(provider, left);
      assertEquals(COUNT, left.connections.live());
      assertEquals(COUNT, right.connections.live());
      assertEquals(COUNT * (16L << 10), left.connections.connector().mailboxBytes());
      assertEquals(COUNT * (16L << 10), right.connections.connector().mailboxBytes());
      DataRegistration from = left.register(BufferRange.host(arena.allocate(BYTES, 4096)));
      DataRegistration to = right.register(BufferRange.host(arena.allocate(BYTES, 4096)));
      for (int i = 0; i < COUNT; i += 61) {
        exchange(left, right, sends.get(i), receiverOf(receives, sends.get(i)), from, to, i);
      }
      for (int closed = 0; closed < COUNT; closed += AT_ONCE) {
        int end = closed + AT_ONCE;
        close(left, right, sends.subList(closed, end), receives.subList(closed, end));
      }
      from.release();
      to.release();
      left.close();
      right.close();
    }
  }

  private static void close(
      Node left, Node right, List<SendConnection> sends, List<ReceiveConnection> receives) {
    int rest = left.connections.live() - sends.size();
    sends.forEach(left.connections::close);
    receives.forEach(right.connections::close);
    await(left, right, () -> left.connections.live() == rest && right.connections.live() == rest);
  }

  /** P13. In turn with a node that has one communicator, since machines change their speed. */
  private static void comparePolls(String provider, Node many) {
    Node[] others = RealNics.nodes(provider, 1);
    Node one = others[0];
    List<SendConnection> sends = new ArrayList<>();
    List<ReceiveConnection> receives = new ArrayList<>();
    Listener listener = others[1].connections.connector().listen(null);
    ConnectHandle handle = others[1].connections.connector().handle(listener);
    connect(one, others[1], listener, handle, sends, receives, 1);
    long leastOfOne = Long.MAX_VALUE;
    long leastOfMany = Long.MAX_VALUE;
    for (int round = 0;
        round < ROUNDS || (round < MOST_ROUNDS && isMore(leastOfMany, leastOfOne));
        round++) {
      leastOfOne = Math.min(leastOfOne, pollNanos(one));
      leastOfMany = Math.min(leastOfMany, pollNanos(many));
    }
    System.out.printf(
        "%s: an idle poll takes %d ns with one communicator, %d ns with %d%n",
        provider, leastOfOne, leastOfMany, COUNT);
    assertFalse(
        isMore(leastOfMany, leastOfOne),
        "P13: an idle poll takes %d ns, not %d".formatted(leastOfMany, leastOfOne));
    close(one, others[1], sends, receives);
    one.close();
    others[1].close();
  }

  private static boolean isMore(long ofMany, long ofOne) {
    return ofMany > ofOne + NOISE_NS;
  }

  /** The time of an idle poll, in ns. */
  private static long pollNanos(Node node) {
    long start = System.nanoTime();
    for (int poll = 0; poll < POLLS; poll++) {
      node.connections.progress();
    }
    return (System.nanoTime() - start) / POLLS;
  }

  private static void connect(
      Node left,
      Node right,
      Listener listener,
      ConnectHandle handle,
      List<SendConnection> sends,
      List<ReceiveConnection> receives,
      int count) {
    List<Attempt> attempts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      attempts.add(left.connections.connector().connect(handle));
    }
    await(
        left,
        right,
        () -> attempts.stream().allMatch(one -> one.connection() != null || one.failure() != null));
    for (Attempt attempt : attempts) {
      assertNull(attempt.failure());
      sends.add(attempt.connection());
      ReceiveConnection accepted = listener.accept();
      assertNotNull(accepted);
      receives.add(accepted);
    }
  }

  /** Those of one batch are accepted in any order. */
  private static ReceiveConnection receiverOf(
      List<ReceiveConnection> receives, SendConnection send) {
    return receives.stream()
        .filter(connection -> connection.id().from() == send.id().to())
        .findFirst()
        .orElseThrow();
  }

  private static void exchange(
      Node left,
      Node right,
      SendConnection send,
      ReceiveConnection receive,
      DataRegistration from,
      DataRegistration to,
      int number) {
    MemorySegment source = Pair.segment(from);
    Pair.fill(source, number);
    long received =
        Posting.receive(
            receive.receiver,
            1,
            new long[] {to.range().address()},
            new long[] {BYTES},
            new int[] {number},
            new DataRegistration[] {to});
    long sent = Posting.send(send.sender, from.range().address(), BYTES, number, from);
    assertTrue(received > 0 && sent > 0);
    long[] moved = {Result.IN_PROGRESS, Result.IN_PROGRESS};
    await(
        left,
        right,
        () -> {
          moved[0] = moved[0] == Result.IN_PROGRESS ? send.test(sent) : moved[0];
          moved[1] = moved[1] == Result.IN_PROGRESS ? receive.test(received) : moved[1];
          return moved[0] != Result.IN_PROGRESS && moved[1] != Result.IN_PROGRESS;
        });
    assertEquals(BYTES, moved[0]);
    assertEquals(BYTES, moved[1]);
    assertEquals(-1, source.mismatch(Pair.segment(to)));
  }

  private static void await(Node left, Node right, BooleanSupplier done) {
    long start = System.nanoTime();
    while (!done.getAsBoolean()) {
      assertTrue(System.nanoTime() - start < BOUND_NS, "takes too long");
      if (left.connections.progress() + right.connections.progress() == 0) {
        Thread.onSpinWait();
      }
    }
  }
}
