package org.jofi.conformance.ordering;

import java.lang.foreign.ValueLayout;
import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.rule.Need;
import org.jofi.fabric.Access;
import org.jofi.fabric.MessageOrder;
import org.jofi.fabric.PostFlags;

/** Orders that sends take part in. */
public final class MessageOrderCases {
  private static final int MESSAGES = 96;
  private static final int BYTES = 64;
  private static final int LARGE = 65_536;
  private static final int ROUNDS = 8;

  private MessageOrderCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
                Area.ORDERING,
                "send-after-send",
                "fi_endpoint(3), FI_ORDER_SAS: messages to a peer take its receives in the order"
                    + " in which they were sent",
                MessageOrderCases::sendAfterSend)
            .needing(Need.order(MessageOrder.SAS)),
        Case.of(
                Area.ORDERING,
                "send-after-write",
                "fi_endpoint(3), FI_ORDER_SAW: a message does not overtake an earlier write",
                MessageOrderCases::sendAfterWrite)
            .needing(Need.order(MessageOrder.SAW)));
  }

  private static void sendAfterSend(Bench bench) {
    Pair pair = bench.pair();
    Buffer from = pair.left().buffer(MESSAGES * BYTES, Access.SEND);
    Buffer into = pair.right().buffer(MESSAGES * BYTES, Access.RECV);
    int[] received = new int[MESSAGES];
    int[] sent = new int[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
      from.memory().set(ValueLayout.JAVA_INT, (long) i * BYTES, i);
      received[i] = pair.right().recv(into, (long) i * BYTES, BYTES);
    }
    for (int i = 0; i < MESSAGES; i++) {
      sent[i] = pair.left().send(from, (long) i * BYTES, BYTES, pair.toRight());
    }
    for (int i = 0; i < MESSAGES; i++) {
      pair.left().success(sent[i], "send " + i);
      pair.right().success(received[i], "receive " + i);
    }
    for (int i = 0; i < MESSAGES; i++) {
      Expect.same(
          "the message in receive " + i,
          i,
          into.memory().get(ValueLayout.JAVA_INT, (long) i * BYTES));
    }
  }

  private static void sendAfterWrite(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(LARGE, Access.WRITE | Access.SEND);
    Buffer target = pair.right().buffer(LARGE, Access.REMOTE_WRITE);
    Buffer into = pair.right().buffer(BYTES, Access.RECV);
    for (int round = 0; round < ROUNDS; round++) {
      source.fill(LARGE, 50 + round);
      target.clear();
      int received = pair.right().recv(into, BYTES);
      int written =
          pair.left().write(source, LARGE, pair.toRight(), target.target(), PostFlags.NONE);
      int sent = pair.left().send(source, 8, pair.toRight());
      pair.right().success(received, "the receive of the message behind a write");
      long at = Bytes.mismatch(target.memory(), 50 + round);
      Expect.that(
          at < 0,
          "the earlier write's %d bytes to be there when the message is".formatted(LARGE),
          "byte %d is not".formatted(at));
      pair.left().success(written, "the write");
      pair.left().success(sent, "the send");
    }
  }
}
