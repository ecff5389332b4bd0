package org.jofi.conformance.messages;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Completion;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;

/** Messages of every size. */
public final class MessageCases {
  private static final int[] SIZES = {0, 1, 63, 64, 65, 4096, 65_536, 1 << 20};
  private static final int MOST = SIZES[SIZES.length - 1];
  private static final int GUARD = 64;
  private static final long UNKNOWN_PEER = 1000;

  private MessageCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        messages(
            "every-byte",
            "fi_msg(3), fi_recv: when a receive completes, the message is in its buffer",
            MessageCases::everyByte),
        messages(
            "length",
            "fi_cq(3), len: the completion of a receive tells how many bytes were received",
            MessageCases::length),
        messages(
            "nothing-behind",
            "fi_msg(3), fi_recv: a receive writes no byte behind the message",
            MessageCases::nothingBehind),
        messages(
            "source-kept",
            "fi_msg(3), fi_send: a send does not change its buffer",
            MessageCases::sourceKept),
        messages(
            "each-completes-once",
            "fi_cq(3): each send and each receive completes once",
            MessageCases::eachCompletesOnce),
        messages(
            "unknown-peer",
            "fi_av(3); fi_msg(3), RETURN VALUE: a send to a peer that was never inserted is"
                + " refused",
            MessageCases::unknownPeer));
  }

  private static Case messages(String name, String rule, Case.Body body) {
    return Case.of(Area.MESSAGES, name, rule, body).within(Duration.ofSeconds(40));
  }

  /** Each size that can be sent, and the longest. */
  private static int[] sizes(Pair pair) {
    return Arrays.stream(SIZES).map(pair.left()::sendable).distinct().toArray();
  }

  /** Sends one message, and waits for both ends. */
  private static Completion exchange(Pair pair, Buffer from, Buffer into, int size) {
    int received = pair.right().recv(into, into.memory().byteSize());
    int sent = pair.left().send(from, size, pair.toRight());
    pair.left().success(sent, "a send of %d bytes".formatted(size));
    return pair.right().success(received, "the receive of %d bytes".formatted(size));
  }

  private static void everyByte(Bench bench) {
    Pair pair = bench.pair();
    int most = pair.left().sendable(MOST);
    Buffer from = pair.left().buffer(most, Access.SEND);
    Buffer into = pair.right().buffer(most, Access.RECV);
    for (int size : sizes(pair)) {
      from.fill(size, size + 1);
      into.clear();
      exchange(pair, from, into, size);
      long at = Bytes.mismatch(into.piece(0, size), size + 1);
      Expect.that(
          at < 0,
          "all %d bytes to be there when the receive completes".formatted(size),
          "byte %d is another".formatted(at));
    }
  }

  private static void length(Bench bench) {
    Pair pair = bench.pair();
    int most = pair.left().sendable(MOST);
    Buffer from = pair.left().buffer(most, Access.SEND);
    Buffer into = pair.right().buffer(most, Access.RECV);
    for (int size : sizes(pair)) {
      Expect.same("the length reported", size, exchange(pair, from, into, size).lengthBytes());
    }
  }

  private static void nothingBehind(Bench bench) {
    Pair pair = bench.pair();
    int most = pair.left().sendable(MOST);
    Buffer from = pair.left().buffer(most, Access.SEND);
    Buffer into = pair.right().buffer(most + GUARD, Access.RECV);
    for (int size : sizes(pair)) {
      from.fill(size, size);
      into.clear();
      exchange(pair, from, into, size);
      long at = Bytes.touched(into.piece(size, GUARD));
      Expect.that(
          at < 0,
          "a message of %d bytes to change no more of a longer receive buffer".formatted(size),
          "byte %d behind it was written".formatted(at));
    }
  }

  private static void sourceKept(Bench bench) {
    Pair pair = bench.pair();
    int bytes = pair.left().sendable(65_536);
    Buffer from = pair.left().buffer(bytes, Access.SEND);
    Buffer into = pair.right().buffer(bytes, Access.RECV);
    from.fill(bytes, 11);
    exchange(pair, from, into, bytes);
    long at = Bytes.mismatch(from.memory(), 11);
    Expect.that(at < 0, "the source to stay as it is", "byte %d changed".formatted(at));
  }

  private static void eachCompletesOnce(Bench bench) {
    Pair pair = bench.pair();
    int count = 32;
    Buffer from = pair.left().buffer(64, Access.SEND);
    Buffer into = pair.right().buffer(64L * count, Access.RECV);
    int[] received = new int[count];
    int[] sent = new int[count];
    for (int i = 0; i < count; i++) {
      received[i] = pair.right().recv(into, 64L * i, 64);
    }
    for (int i = 0; i < count; i++) {
      sent[i] = pair.left().send(from, 8, pair.toRight());
    }
    for (int i = 0; i < count; i++) {
      pair.left().success(sent[i], "send " + i);
      pair.right().success(received[i], "receive " + i);
    }
    bench.watch();
    for (int i = 0; i < count; i++) {
      Expect.same("completions of send " + i, 1, pair.left().completions().countOf(sent[i]));
      Expect.same(
          "completions of receive " + i, 1, pair.right().completions().countOf(received[i]));
    }
  }

  private static void unknownPeer(Bench bench) {
    Pair pair = bench.pair();
    Buffer from = pair.left().buffer(64, Access.SEND);
    int code =
        pair.left()
            .endpoint()
            .send(from.address(), 8, from.descriptor(), UNKNOWN_PEER, pair.left().slot());
    Expect.that(
        code < 0 && code != -FabricErrno.EAGAIN,
        "a send to peer %d, never inserted, to be refused for good".formatted(UNKNOWN_PEER),
        "it returned " + Expect.code(code));
  }
}
