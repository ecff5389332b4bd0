package org.jofi.rdma.driver;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jofi.rdma.operation.SentListener;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * How much of what left over the rails of one role is known to have reached the peer. With several
 * rails, what did not may have to go over another one: messages are kept until they arrived;
 * entries are not, since their owner can write them again at any time.
 *
 * <p>To acknowledge each would cost the peer as much as a message does. But what goes over one rail
 * to one peer arrives in the order in which it was posted: where completion does not mean arrival,
 * all of it goes through one socket. So the acknowledgement of one covers all before it, and only
 * one of {@value #EVERY} asks for it, besides those whose sender waits for it. If none follows that
 * asks, an empty message does, which the peer's provider acknowledges and the peer ignores.
 */
final class UnansweredMessages implements SentListener {
  /** With 8, half a round trip of 8 bytes took 4 % longer over net; with 32, no less. */
  private static final int EVERY = 16;

  private final PeerRails rails;
  private final OutgoingMessages messages;
  private final boolean asksEach;
  private final List<ArrayDeque<OutgoingMessage>> kept = new ArrayList<>();
  private final long[] posted;
  private final long[] answered;

  /** Those up to here left over a connection that may have broken. */
  private final long[] given;

  /** How many left after the last that asked. */
  private final int[] silent;

  /** The last that left without asking. */
  private final long[] plain;

  /** The same, at the last look. */
  private final long[] looked;

  /** Whether an empty message is out; for a dead peer there would be ever more of them. */
  private final boolean[] asking;

  private int losses;

  /**
   * @param rails over which they leave
   * @param messages the endpoint's
   * @param asksEach whether nothing leaves without asking: there is no other rail, or none
   *     completes before it arrived
   */
  UnansweredMessages(PeerRails rails, OutgoingMessages messages, boolean asksEach) {
    this.rails = rails;
    this.messages = messages;
    this.asksEach = asksEach;
    int count = rails.count();
    posted = new long[count];
    answered = new long[count];
    given = new long[count];
    silent = new int[count];
    plain = new long[count];
    looked = new long[count];
    asking = new boolean[count];
    for (int rail = 0; rail < count; rail++) {
      // Most of these keep nothing: of data rails, of handshakes, of providers without sockets.
      kept.add(new ArrayDeque<>(1));
    }
  }

  /**
   * Whether what goes over a rail next asks for word of its arrival.
   *
   * @param mayWait whether its sender may be told late
   */
  boolean asks(int rail, boolean mayWait) {
    return asksEach || !mayWait || silent[rail] + 1 >= EVERY;
  }

  /** A rail took a message, or a write; its place among those of the rail. */
  long posted(int rail, boolean asks) {
    silent[rail] = asks ? 0 : silent[rail] + 1;
    return ++posted[rail];
  }

  /** A message left that did not ask: it is told when its arrival is known. */
  void left(int rail, long place, OutgoingMessage message) {
    if (place <= given[rail]) {
      message.goOverAnother();
    } else if (place < answered[rail]) {
      message.arrived();
    } else {
      plain[rail] = place;
      kept.get(rail).addLast(message);
    }
  }

  /** A write left that did not ask. */
  void wrote(int rail, long place) {
    plain[rail] = Math.max(plain[rail], place);
    if (place <= given[rail]) {
      losses++;
    }
  }

  /** What has that place arrived, and with it all before it. */
  void arrived(int rail, long place) {
    answered[rail] = Math.max(answered[rail], place);
    ArrayDeque<OutgoingMessage> before = kept.get(rail);
    for (OutgoingMessage first = before.peekFirst();
        first != null && first.place() < place;
        first = before.peekFirst()) {
      before.removeFirst();
      first.arrived();
    }
  }

  /**
   * A rail is given up, or an operation failed over it: what may not have arrived goes once more,
   * over another rail if there is one. After a failure, too, though the rail goes on to be used: a
   * provider that connects anew would deliver what follows, which would pass for word of what was
   * lost with the connection.
   */
  void lost(int rail) {
    given[rail] = posted[rail];
    losses += asksEach ? 0 : 1;
    ArrayDeque<OutgoingMessage> over = kept.get(rail);
    for (OutgoingMessage first = over.pollFirst(); first != null; first = over.pollFirst()) {
      first.goOverAnother();
    }
  }

  int losses() {
    return losses;
  }

  /** Whether nothing is known of writes that left over a rail, and no message is kept for it. */
  boolean isUncertain(int rail) {
    return kept.get(rail).isEmpty() && !isKnown(rail, plain[rail]);
  }

  /** Whether what has a place arrived, or may be lost. */
  private boolean isKnown(int rail, long place) {
    return place <= Math.max(answered[rail], given[rail]);
  }

  /** Asks where nothing is known of what left before the last look. */
  void look() {
    for (int rail = 0; rail < posted.length; rail++) {
      if (!isKnown(rail, looked[rail])) {
        ask(rail);
      }
      looked[rail] = plain[rail];
    }
  }

  /**
   * Whether all up to these places, one for each rail, arrived or may be lost. Asks the peer over
   * the rails of which that is not known.
   */
  boolean areKnown(long[] places) {
    boolean all = true;
    for (int rail = 0; rail < places.length; rail++) {
      if (!isKnown(rail, places[rail])) {
        ask(rail);
        all = false;
      }
    }
    return all;
  }

  /** Asks whether what left over a rail until now arrived, unless that is asked already. */
  private void ask(int rail) {
    if (!asking[rail]) {
      asking[rail] = messages.ask(rails, rail, this, rail);
    }
  }

  @Override
  public void sent(long rail, @Nullable Failure failure) {
    asking[(int) rail] = false;
  }
}
