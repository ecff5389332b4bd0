package org.jofi.rdma.driver;

import java.util.ArrayDeque;
import java.util.stream.Stream;
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
  private final Left[] left;

  /** How often something may have been lost, besides messages, which go once more. */
  int losses;

  /** What left over a rail, by places. */
  private static final class Left {
    /** Most of these keep nothing: of data rails, of handshakes, of providers without sockets. */
    final ArrayDeque<OutgoingMessage> kept = new ArrayDeque<>(1);

    /** The last that was posted, and the last that is known to have arrived. */
    long posted;

    long answered;

    /** Those up to here left over a connection that may have broken. */
    long given;

    /** The last that left without asking; and the same, at the last look. */
    long plain;

    long looked;

    /** How many left after the last that asked. */
    int silent;

    /** Whether an empty message is out; for a dead peer there would be ever more of them. */
    boolean isAsking;

    /** Whether what has a place arrived, or may be lost. */
    boolean isKnown(long place) {
      return place <= Math.max(answered, given);
    }
  }

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
    left = Stream.generate(Left::new).limit(rails.count()).toArray(Left[]::new);
  }

  /** Whether what goes over a rail next asks for word of its arrival. */
  boolean asks(int rail, boolean mayWait) {
    return asksEach || !mayWait || left[rail].silent + 1 >= EVERY;
  }

  /** A rail took a message, or a write; its place among those of the rail. */
  long posted(int rail, boolean asks) {
    Left of = left[rail];
    of.silent = asks ? 0 : of.silent + 1;
    return ++of.posted;
  }

  /** A message left that did not ask: it is told when its arrival is known. */
  void left(int rail, long place, OutgoingMessage message) {
    Left of = left[rail];
    if (place <= of.given) {
      message.goOverAnother();
    } else if (place < of.answered) {
      message.arrived();
    } else {
      of.plain = place;
      of.kept.addLast(message);
    }
  }

  /** A write left that did not ask. */
  void wrote(int rail, long place) {
    Left of = left[rail];
    of.plain = Math.max(of.plain, place);
    if (place <= of.given) {
      losses++;
    }
  }

  /** What has that place arrived, and with it all before it. */
  void arrived(int rail, long place) {
    Left of = left[rail];
    of.answered = Math.max(of.answered, place);
    for (OutgoingMessage first = of.kept.peekFirst();
        first != null && first.place < place;
        first = of.kept.peekFirst()) {
      of.kept.removeFirst();
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
    Left of = left[rail];
    of.given = of.posted;
    losses += asksEach ? 0 : 1;
    for (OutgoingMessage first = of.kept.pollFirst(); first != null; first = of.kept.pollFirst()) {
      first.goOverAnother();
    }
  }

  /** Whether nothing is known of writes that left over a rail, and no message is kept for it. */
  boolean isUncertain(int rail) {
    return left[rail].kept.isEmpty() && !left[rail].isKnown(left[rail].plain);
  }

  /** Asks where nothing is known of what left before the last look. */
  void look() {
    for (int rail = 0; rail < left.length; rail++) {
      if (!left[rail].isKnown(left[rail].looked)) {
        ask(rail);
      }
      left[rail].looked = left[rail].plain;
    }
  }

  /**
   * Whether all up to these places, one for each rail, arrived or may be lost. Asks the peer over
   * the rails of which that is not known.
   */
  boolean areKnown(long[] places) {
    boolean all = true;
    for (int rail = 0; rail < places.length; rail++) {
      if (!left[rail].isKnown(places[rail])) {
        ask(rail);
        all = false;
      }
    }
    return all;
  }

  /** Asks whether what left over a rail until now arrived, unless that is asked already. */
  private void ask(int rail) {
    OutgoingMessage question = left[rail].isAsking ? null : messages.take(rails);
    if (question != null) {
      left[rail].isAsking = true;
      question.sendLater(rail, this, rail);
    }
  }

  @Override
  public void sent(long rail, @Nullable Failure failure) {
    left[(int) rail].isAsking = false;
  }
}
