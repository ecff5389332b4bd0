package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jofi.rdma.endpoint.MultiRailEndpoint;
import org.jofi.rdma.endpoint.OutgoingMessage;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.MessageType;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * Ends connections: after a close or an abort of either peer, a failure, or when the peer is silent
 * for too long. It tells the peer, and releases this end of the connection when nothing uses it any
 * more or its time limit has passed.
 */
final class SideEndings {
  private final ConnectionSettings settings;
  private final Consumer<Side> released;
  private final List<Side> ending = new ArrayList<>();
  private final ArrayDeque<Side> failing = new ArrayDeque<>();
  private final SilentPeers silent;
  private @Nullable MultiRailEndpoint endpoint;

  /**
   * @param released takes a side that was released
   */
  SideEndings(ConnectionSettings settings, Consumer<Side> released) {
    this.settings = settings;
    this.released = released;
    silent = new SilentPeers(settings.closeNs());
  }

  void attach(MultiRailEndpoint opened) {
    endpoint = opened;
  }

  /** Aborts a side when it fails. */
  void watch(Side side) {
    side.onFailure(() -> failing.add(side));
  }

  /** Forgets all. */
  void clear() {
    ending.clear();
    failing.clear();
  }

  /**
   * The peer aborted, so this side fails as well, after its operations in flight have completed.
   */
  void peerAborted(Side side, FailureCause why) {
    side.fail(side.failure(FailureCause.PEER_ABORTED, why.words()));
    side.peerStopped(0, bound());
    end(side);
  }

  /**
   * The peer has closed: its operations are complete, and it posts nothing more.
   *
   * @param messages how many it has started
   * @param writes how many it made of those that this side sees
   */
  void peerReturned(Side side, long messages, long writes) {
    if (side.isPeerDone() && side.isTold()) {
      // The peer repeats its close, so the answer was lost.
      tell(side, MessageType.CLOSED);
    }
    side.peerStopped(messages, bound());
    side.peerReturned(writes);
    end(side);
  }

  private long bound() {
    return settings.clock().nanoTime() + settings.closeNs();
  }

  /** Until when to wait for this peer: not at all, if a wait for it has just timed out. */
  private long bound(Side side) {
    long now = settings.clock().nanoTime();
    return silent.contains(side, now) ? now : now + settings.closeNs();
  }

  /** Something of the peer arrived. */
  void heard(Side side) {
    side.hear();
    silent.heard(side);
  }

  private void end(Side side) {
    if (!ending.contains(side)) {
      ending.add(side);
    }
  }

  /** Closes a side. */
  void close(Side side) {
    if (!side.isLocalClosed()) {
      side.closeHere(side.failure(FailureCause.CLOSED, ""), bound(side));
      end(side);
    }
  }

  /** Aborts a side. */
  void abort(Side side) {
    if (!side.isLocalClosed()) {
      giveUp(side, side.failure(FailureCause.ABORTED, ""));
    }
  }

  private void giveUp(Side side, Failure why) {
    side.abortHere(why, bound(side));
    end(side);
    if (!side.isPeerClosed()) {
      // A peer that counts as lost may be alive; tell it.
      tell(side, MessageType.ABORT);
    }
    if (why.cause() == FailureCause.PEER_LOST) {
      side.peerDone();
    }
  }

  /** Aborts sides that failed, unless they are being closed already. */
  private int giveUpFailed() {
    int given = 0;
    for (Side side = failing.pollFirst(); side != null; side = failing.pollFirst()) {
      Failure why = side.failure();
      if (why != null && !side.isLocalClosed() && !side.isPeerClosed()) {
        giveUp(side, why);
        given++;
      }
    }
    return given;
  }

  /** Sends a ping to a peer that is silent. */
  void ask(Side side) {
    if (side.mayAsk()) {
      tell(side, MessageType.PING);
      if (side.isTold()) {
        // The message or its answer may be lost, so send it again.
        tell(side, endOf(side));
      }
    }
  }

  /** A peer was silent for too long. */
  void lose(Side side) {
    silent.silent(side, settings.clock().nanoTime());
    if (side.isLocalClosed()) {
      side.peerDone();
      return;
    }
    side.fail(
        side.failure(
            FailureCause.PEER_LOST,
            "nothing heard of the peer for %d ms".formatted(settings.silenceNs() / 1_000_000)));
  }

  /** Advances each side that is ending; returns how many steps were done. */
  int advance() {
    int events = giveUpFailed();
    if (ending.isEmpty()) {
      return events;
    }
    long now = settings.clock().nanoTime();
    for (int i = ending.size() - 1; i >= 0; i--) {
      if (advance(ending.get(i), now)) {
        ending.remove(i);
        events++;
      }
    }
    return events;
  }

  /** Advances a side that is ending; returns whether nothing is left to do for it here. */
  private boolean advance(Side side, long now) {
    boolean overdue = side.isOverdue(now);
    boolean awaiting = side.awaitWrites(overdue);
    if (overdue && !side.isLocalClosed() && side.isPeerClosed()) {
      // Messages that the peer started before it closed did not arrive.
      side.fail(side.failure(FailureCause.PEER_CLOSED, "lost on its way"));
    }
    if (!side.isQuiet()) {
      if (overdue) {
        side.expire();
      }
      return false;
    }
    if (!side.isTold()) {
      if (tell(side, endOf(side))) {
        side.tell();
      } else if (!overdue) {
        return false;
      }
    }
    if (!side.isLocalClosed()) {
      // After that it waits for its owner's close, which adds it here again.
      return !awaiting;
    }
    if (!side.isPeerDone()) {
      if (!overdue) {
        return false;
      }
      silent.silent(side, now);
    }
    released.accept(side);
    return true;
  }

  private static MessageType endOf(Side side) {
    return side.isPeerClosed() ? MessageType.CLOSED : MessageType.CLOSE;
  }

  /** Sends a message about the connection itself; whether there was a buffer. */
  boolean tell(Side side, MessageType what) {
    MultiRailEndpoint through = endpoint;
    OutgoingMessage message = through == null ? null : through.takeMessage();
    if (message == null) {
      return false;
    }
    MemorySegment memory = message.memory();
    long at = message.at();
    switch (what) {
      case CLOSE ->
          ControlMessage.putClose(
              memory,
              at,
              side.parties(),
              side.started(),
              side.writes(),
              side.isAborted() ? causeOf(side) : null);
      case CLOSED -> ControlMessage.putClosed(memory, at, side.parties(), side.writes());
      case PING ->
          ControlMessage.putPing(memory, at, side.parties(), side.finished(), side.unseen());
      case PONG ->
          ControlMessage.putPong(memory, at, side.parties(), side.finished(), side.unseen());
      default -> ControlMessage.putAbort(memory, at, side.parties(), causeOf(side));
    }
    side.send(message);
    return true;
  }

  private static FailureCause causeOf(Side side) {
    Failure why = side.failure();
    return why == null ? FailureCause.ABORTED : why.cause();
  }
}
