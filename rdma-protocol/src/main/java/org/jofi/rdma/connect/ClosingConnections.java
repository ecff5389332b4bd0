package org.jofi.rdma.connect;

import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jofi.counters.written.CounterType;
import org.jofi.rdma.engine.MessageProtocol;
import org.jofi.rdma.operation.PeerControl;
import org.jofi.rdma.wire.MessageType;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.diagnostics.Events;
import org.jofi.transport.diagnostics.Log;

/**
 * Ends connections: after a close or an abort of either peer, a failure, or when the peer is silent
 * for too long. It tells the peer, and releases this end of the connection when nothing uses it any
 * more or its time limit has passed.
 */
final class ClosingConnections {
  private static final Log LOG = new Log(Log.Name.TRANSPORT);

  /** How often a side tells its end within the time limit of a close. */
  private static final int REPEATS = 16;

  private final ConnectionSettings settings;
  private final Consumer<Connection> released;
  private final ById<Connection> ending = new ById<>(connection -> connection.id().from());
  private final ArrayDeque<Connection> failing = new ArrayDeque<>();

  /**
   * Released ones whose memory the peer may still write into, since a provider refuses to close an
   * endpoint. Only that memory is held: until the endpoint closes, or all of this side's do.
   */
  private final List<Connection> uncut = new ArrayList<>(0);

  /** When the other endpoints were told last that a process may be dead. */
  private long suspectedAt;

  ClosingConnections(ConnectionSettings settings, Consumer<Connection> released) {
    this.settings = settings;
    this.released = released;
    suspectedAt = settings.clock().nanoTime() - settings.closeNs();
  }

  void watch(Connection connection) {
    connection.onFailure(() -> failing.add(connection));
  }

  /** The endpoint is closed: nothing of any connection can land any more. */
  void abandon() {
    uncut.forEach(Connection::abandon);
    uncut.clear();
    ending.clear();
    failing.clear();
  }

  /** The peer aborted, so this side fails as well, once its operations in flight are back. */
  void peerAborted(Connection connection, FailureCause why) {
    connection.fail(connection.failure(FailureCause.PEER_ABORTED, why.words()));
    connection.peerStopped(0, bound());
    ending.add(connection);
  }

  /** The peer has closed: its operations are complete, and it posts nothing more. */
  void peerReturned(Connection connection, long messages, long writes) {
    if (connection.closing.peerDone && connection.closing.told) {
      // The peer repeats its close, so the answer was lost.
      tell(connection, MessageType.CLOSED);
    }
    connection.peerStopped(messages, bound());
    connection.peerReturned(writes);
    ending.add(connection);
  }

  private long bound() {
    return settings.clock().nanoTime() + settings.closeNs();
  }

  /** Until when to wait for this peer: not at all, if a wait for it has just timed out. */
  private long bound(Connection connection) {
    long now = settings.clock().nanoTime();
    return connection.link.sink.peer().isSilent() ? now : now + settings.closeNs();
  }

  void close(Connection connection) {
    if (!connection.closing.localClosed) {
      connection.closeHere(connection.failure(FailureCause.CLOSED, ""), bound(connection));
      ending.add(connection);
    }
  }

  void abort(Connection connection) {
    if (!connection.closing.localClosed) {
      giveUp(connection, connection.failure(FailureCause.ABORTED, ""));
    }
  }

  private void giveUp(Connection connection, Failure why) {
    connection.closing.aborted = true;
    connection.closeHere(why, bound(connection));
    ending.add(connection);
    if (!connection.closing.peerClosed) {
      // A peer that counts as lost may be alive; tell it, also if a rail is silent.
      for (int rail = 0; rail < connection.link.sink.endpoint().controlRails(); rail++) {
        tell(connection, MessageType.ABORT);
      }
    }
    if (why.cause() == FailureCause.PEER_LOST) {
      connection.peerVanished();
    }
  }

  /** Aborts sides that failed, unless they are being closed already. */
  private int giveUpFailed() {
    int given = 0;
    for (Connection connection = failing.pollFirst();
        connection != null;
        connection = failing.pollFirst()) {
      Failure why = connection.failure();
      if (why != null && !connection.closing.localClosed) {
        tellFailed(connection, why);
        if (!connection.closing.peerClosed) {
          giveUp(connection, why);
          given++;
        }
      }
    }
    return given;
  }

  /** But for a peer's close after which nothing is missing. */
  private static void tellFailed(Connection connection, Failure why) {
    if (why.cause() == FailureCause.PEER_CLOSED && why.detail().isEmpty()) {
      return;
    }
    String label = connection.describe();
    LOG.log(Level.WARNING, "%s failed: %s".formatted(label, why));
    Events.communicatorFailed(
        label,
        why.cause().name(),
        why.errno(),
        why.where(),
        why.detail(),
        connection.protocol.requests().activeAtFailure());
  }

  /** Sends a question, or its answer, unless too many are on their way. */
  void ask(Connection connection, MessageType what) {
    if (connection.mayAsk()) {
      tell(connection, what);
    }
  }

  void lose(Connection connection) {
    lose(
        connection,
        connection.failure(
            FailureCause.PEER_LOST,
            ("nothing heard of the peer for %d ms: it is gone, or cannot be reached, or stood still for"
                    + " so long. The limit is peerTimeout (JOFI_PEER_TIMEOUT, --peer-timeout)")
                .formatted(settings.silenceNs() / 1_000_000)));
  }

  void lose(Connection connection, Failure why) {
    connection.link.sink.peer().fellSilent();
    connection.link.sink.peer().giveUpFences();
    if (connection.closing.localClosed) {
      connection.peerVanished();
    } else {
      connection.link.endpoint.counters().add(CounterType.CONNECTIONS_LOST, 1);
      connection.link.endpoint.counters().errors().add(why);
      connection.fail(why);
    }
  }

  int advance() {
    int events = giveUpFailed();
    for (int i = uncut.size() - 1; i >= 0; i--) {
      if (uncut.get(i).isCut()) {
        uncut.remove(i);
        events++;
      }
    }
    if (ending.isEmpty()) {
      return events;
    }
    long now = settings.clock().nanoTime();
    for (int i = ending.size() - 1; i >= 0; i--) {
      if (advance(ending.get(i), now)) {
        ending.removeAt(i);
        events++;
      }
    }
    return events;
  }

  /** Advances a side that is ending; returns whether nothing is left to do for it here. */
  private boolean advance(Connection connection, long now) {
    CloseHandshake closing = connection.closing;
    PeerControl peer = connection.link.sink.peer();
    boolean overdue = closing.leftNs(now) <= 0 || (closing.localClosed && peer.isSilent());
    boolean awaiting = connection.awaitWrites(overdue);
    if (!connection.isCut() && !overdue) {
      return false;
    }
    if (overdue && !closing.localClosed && closing.peerClosed) {
      // Messages that the peer sent before it closed did not arrive.
      connection.fail(connection.failure(FailureCause.PEER_CLOSED, "lost on its way"));
    }
    if (!connection.isQuiet() || (!overdue && connection.protocol.awaitsMore())) {
      if (overdue) {
        connection.expire();
        peer.giveUpFences();
      }
      return false;
    }
    if (!closing.told) {
      if (tell(connection, endOf(connection))) {
        closing.tell(now);
      } else if (!overdue) {
        return false;
      }
    }
    if (!closing.localClosed) {
      // After that it waits for its owner's close, which adds it here again.
      return !awaiting;
    }
    if (!closing.peerDone) {
      if (!overdue) {
        awaitAnswer(connection, now);
        return false;
      }
      peer.fellSilent();
      connection.peerVanished();
    }
    if (!connection.isCut()) {
      if (closing.leftNs(now) > -settings.closeNs()) {
        return false;
      }
      // Its id and its mailbox are free, which its peer reaches over control rails anyway.
      uncut.add(connection);
    }
    released.accept(connection);
    return true;
  }

  /**
   * Tells the end again from time to time, since that or its answer may be lost; and the other
   * endpoints of a peer that does not answer for half of the bound.
   */
  private void awaitAnswer(Connection connection, long now) {
    long closeNs = settings.closeNs();
    if (connection.closing.isTellDue(now, closeNs / REPEATS)) {
      ask(connection, endOf(connection));
    }
    if (connection.closing.leftNs(now) <= closeNs - closeNs / 2 && now - suspectedAt >= closeNs) {
      suspectedAt = now;
      settings.suspicions().getAndIncrement();
    }
  }

  private static MessageType endOf(Connection connection) {
    return connection.closing.peerClosed ? MessageType.CLOSED : MessageType.CLOSE;
  }

  /** Sends a message about the connection itself; whether there was a buffer. */
  boolean tell(Connection connection, MessageType what) {
    MessageProtocol protocol = connection.protocol;
    boolean ends = what == MessageType.CLOSE || what == MessageType.CLOSED;
    boolean asks = what == MessageType.PING || what == MessageType.PONG;
    boolean aborts =
        what == MessageType.ABORT || (what == MessageType.CLOSE && connection.closing.aborted);
    return connection.tell(
        what,
        asks || what == MessageType.CLOSE ? protocol.finished() : 0,
        ends ? protocol.writes() : asks ? protocol.firstUnseen() : 0,
        aborts ? causeOf(connection) : null);
  }

  private static FailureCause causeOf(Connection connection) {
    Failure why = connection.failure();
    return why == null ? FailureCause.ABORTED : why.cause();
  }
}
