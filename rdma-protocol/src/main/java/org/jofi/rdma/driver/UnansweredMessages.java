package org.jofi.rdma.driver;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jofi.rdma.operation.SentListener;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * The messages, and the writes of entries, that left over the rails of one role to a peer, and of
 * whose arrival nothing is known yet. With several rails each may have to go over another one.
 *
 * <p>Word of each costs the peer as much as a message. But those that go over one rail to one peer
 * arrive in the order in which they were posted: where arrival is not told anyway, they go through
 * one socket. So word of one is word of all before it, and only one of {@value #EVERY} asks for it,
 * besides those whose sender waits for it. The others are kept. If none asks any more, an empty
 * message does, which the peer's provider answers and the peer ignores.
 */
final class UnansweredMessages implements SentListener {
  /** With 8, half a round trip of 8 bytes took 4 % longer over net; with 32, no less. */
  private static final int EVERY = 16;

  private final boolean asksEach;
  private final Questions questions;
  private final List<ArrayDeque<Unanswered>> kept = new ArrayList<>();
  private final long[] posted;
  private final long[] answered;

  /** Those up to here left over a connection that may have broken. */
  private final long[] given;

  /** How many left after the last that asked. */
  private final int[] silent;

  /** What was posted by the last look. */
  private final long[] looked;

  /** Whether an empty message is out: a dead peer's would add up. */
  private final boolean[] asking;

  /** Sends empty messages whose arrival is told. */
  interface Questions {
    /**
     * Sends one over a rail, when queues have delivered.
     *
     * @return whether there was a buffer for it
     */
    boolean ask(int rail, SentListener who, long cookie);
  }

  /**
   * @param rails how many
   * @param asksEach whether none is kept: there is no other rail, or none is told of before it
   *     arrived
   */
  UnansweredMessages(int rails, boolean asksEach, Questions questions) {
    this.asksEach = asksEach;
    this.questions = questions;
    posted = new long[rails];
    answered = new long[rails];
    given = new long[rails];
    silent = new int[rails];
    looked = new long[rails];
    asking = new boolean[rails];
    for (int rail = 0; rail < rails; rail++) {
      // Most of these keep nothing: of data rails, of handshakes, of providers without sockets.
      kept.add(new ArrayDeque<>(1));
    }
  }

  /**
   * Whether the next message over a rail asks for word of its arrival.
   *
   * @param mayWait whether its sender may be told late
   */
  boolean asks(int rail, boolean mayWait) {
    return asksEach || !mayWait || silent[rail] + 1 >= EVERY;
  }

  /** A rail took a message; its place among those of the rail. */
  long posted(int rail, boolean asks) {
    silent[rail] = asks ? 0 : silent[rail] + 1;
    return ++posted[rail];
  }

  /** A message left that did not ask: it is told when its arrival is known. */
  void left(int rail, long place, Unanswered message) {
    if (place <= given[rail]) {
      message.goOverAnother();
    } else if (place < answered[rail]) {
      message.arrived();
    } else {
      kept.get(rail).addLast(message);
    }
  }

  /** A message arrived, and all before it did. */
  void arrived(int rail, long place) {
    answered[rail] = Math.max(answered[rail], place);
    ArrayDeque<Unanswered> before = kept.get(rail);
    for (Unanswered first = before.peekFirst();
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
    ArrayDeque<Unanswered> over = kept.get(rail);
    for (Unanswered first = over.pollFirst(); first != null; first = over.pollFirst()) {
      first.goOverAnother();
    }
  }

  /** Asks where something is kept since the last look. */
  void look() {
    for (int rail = 0; rail < posted.length; rail++) {
      Unanswered first = kept.get(rail).peekFirst();
      if (first != null && first.place() <= looked[rail]) {
        ask(rail);
      }
      looked[rail] = posted[rail];
    }
  }

  /** Asks for word of what left over a rail until now, unless that is asked already. */
  void ask(int rail) {
    if (!asking[rail]) {
      asking[rail] = questions.ask(rail, this, rail);
    }
  }

  /** It is known to have arrived, though perhaps not over its rail. */
  void forget(int rail, Unanswered of) {
    boolean wasKept = kept.get(rail).remove(of);
    assert wasKept;
  }

  @Override
  public void sent(long rail, @Nullable Failure failure) {
    asking[(int) rail] = false;
  }
}
