package org.jofi.rdma.connect;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jofi.rdma.engine.MessageProtocol;
import org.jofi.rdma.onesided.OneSided;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.request.RequestQueue;
import org.jofi.rdma.request.RequestWatch;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.MessageType;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection, from the time it is made until it is released. It turns calls, arrivals,
 * completions and time that is told into operations, which it puts into an {@link OperationSink};
 * it has no lock, clock or thread, and touches no fabric.
 */
public abstract class Connection {
  /** Cookie of a message that the peer needs even if this side is released before it leaves. */
  private static final long LAST = 1;

  private final Runnable freeMailbox;
  public final PeerLink link;
  public final MessageProtocol protocol;
  private final RequestQueue messages;
  public final OneSided oneSided;
  private final RequestQueue[] kinds;
  private int overTurn;
  private final Liveness liveness;
  final CloseHandshake closing = new CloseHandshake();
  private final SentListener onWay = new Told();
  private Runnable listener = () -> {};
  private BooleanSupplier cut = () -> true;
  private boolean vanishing;
  private int onTheirWay;

  /**
   * @param freeMailbox gives its mailbox back, once it is released
   * @param silenceNs how long a peer that is waited for may be silent
   * @param protocol of its messages
   * @param local requests that need no peer
   */
  public Connection(
      Runnable freeMailbox,
      PeerLink link,
      long silenceNs,
      MessageProtocol protocol,
      RequestQueue... local) {
    this.freeMailbox = freeMailbox;
    this.link = link;
    this.protocol = protocol;
    messages = protocol.requests();
    oneSided = new OneSided(link);
    kinds = new RequestQueue[2 + local.length];
    kinds[0] = messages;
    kinds[1] = oneSided;
    System.arraycopy(local, 0, kinds, 2, local.length);
    liveness = new Liveness(silenceNs);
    messages.onFailure(() -> share(messages));
    oneSided.onFailure(() -> share(oneSided));
  }

  /** Makes a failure of messages fail the one-sided operations, and the other way round. */
  private void share(RequestQueue failed) {
    Failure why = failed.failure();
    if (why != null) {
      fail(why);
    }
    if (failed.equals(messages)) {
      listener.run();
    }
  }

  /** To the peer's communicator, from this side's. */
  public final ConnectionId id() {
    return link.id;
  }

  /** Why its messages, and with them the side, failed; null while it works. */
  public final @Nullable Failure failure() {
    return messages.failure();
  }

  private void each(Consumer<RequestQueue> task) {
    for (RequestQueue kind : kinds) {
      task.accept(kind);
    }
  }

  /** Its requests that are not over. */
  final int running() {
    int running = 0;
    for (RequestQueue kind : kinds) {
      running += kind.running();
    }
    return running;
  }

  private RequestQueue kindOf(long request) {
    for (RequestQueue kind : kinds) {
      if (kind.owns(request)) {
        return kind;
      }
    }
    return messages;
  }

  /** How a request fares; without progress. A request that is over is reported once. */
  public final long test(long request) {
    return kindOf(request).test(request);
  }

  /** Begins to list requests as they become over, for {@link #firstOver}, or stops. */
  public final void list(boolean on) {
    each(kind -> kind.list(on));
  }

  public final boolean hasOver() {
    for (RequestQueue kind : kinds) {
      if (kind.hasOver()) {
        return true;
      }
    }
    return false;
  }

  /** The next listed request that is over, to be tested now; 0 if there is none. */
  public final long firstOver() {
    for (int i = 0; i < kinds.length; i++) {
      // Each kind in turn, so that none waits for the others to have nothing.
      overTurn = (overTurn + 1) % kinds.length;
      long request = kinds[overTurn].firstOver();
      if (request != 0) {
        return request;
      }
    }
    return 0;
  }

  public final @Nullable Failure failure(long request) {
    return kindOf(request).failure(request);
  }

  /** Whether a request may still use its memory: it is not over, or its operations are not. */
  public final boolean usesMemory(long request) {
    return kindOf(request).usesMemory(request);
  }

  /** Sets who is told of its requests from now on. */
  public final void watch(RequestWatch by) {
    each(kind -> kind.watch(by));
  }

  /** The request that had that id last in its slot; null if it is forgotten. */
  public final @Nullable Request request(long request) {
    return kindOf(request).last(request);
  }

  public final void onFailure(Runnable told) {
    listener = told;
  }

  /** Whether no operation of it is with a provider, and none will be posted. */
  public final boolean isQuiet() {
    for (RequestQueue kind : kinds) {
      if (!kind.isQuiet()) {
        return false;
      }
    }
    return true;
  }

  /** Fails requests in flight that need the peer, and requests that are posted from now on. */
  public final void fail(Failure why) {
    messages.fail(why);
    oneSided.fail(why);
  }

  public final Failure failure(FailureCause cause, String detail) {
    return new Failure(cause, 0, "communicator %d".formatted(id().from()), detail);
  }

  /**
   * A message of the peer arrived. It names this side's communicator, which a connector learns from
   * the ACCEPT, with the addresses that it inserts at once.
   */
  public final void hear() {
    link.peerKnowsThisSide();
    link.heard = true;
    link.sink.peer().heard();
  }

  /** Checks the time limits of requests, and whether the peer is alive. */
  public final Liveness.Verdict check(long now, long requestNs) {
    boolean waits = closing.localClosed && closing.told;
    for (RequestQueue kind : kinds) {
      kind.check(now, requestNs);
      waits |= kind.waits();
    }
    boolean heard = link.heard;
    link.heard = false;
    return liveness.check(heard, !closing.peerDone && waits, now);
  }

  /** Whether few enough messages are on their way that a question or its answer may follow. */
  public final boolean mayAsk() {
    return onTheirWay <= link.endpoint.controlRails();
  }

  final String describe() {
    return "communicator %d of %s, to %s"
        .formatted(id().from(), link.endpoint.label(), link.describePeer());
  }

  /**
   * Sends a message about the connection itself. If this side is released before it could be
   * posted, it is dropped, unless it is the last one, which tells that this side's operations are
   * complete, and the peer has said that it closes.
   *
   * @return false if there is no buffer now
   */
  final boolean tell(MessageType type, long number, long value, @Nullable FailureCause why) {
    Packet message = link.sink.takePacket();
    if (message == null) {
      return false;
    }
    ControlMessage.put(message.memory(), id(), type, number, value, why);
    onTheirWay++;
    boolean isLast = type == MessageType.CLOSE || type == MessageType.CLOSED;
    message.tell(ControlMessage.BYTES, onWay, isLast ? LAST : 0);
    return true;
  }

  /**
   * Answers the peer's question whether a stripe arrived, unless there is no such receive, or no
   * buffer: the peer asks again.
   *
   * @param tries how often the stripe was posted when that was asked
   */
  public final void answer(long receiveIndex, int stripe, int tries) {
    int has = closing.released ? MessageProtocol.UNKNOWN : protocol.hasStripe(receiveIndex, stripe);
    if (has != MessageProtocol.UNKNOWN) {
      long value = ControlMessage.ofStripe(stripe, tries, has == MessageProtocol.ARRIVED);
      tell(MessageType.ANSWER, receiveIndex, value, null);
    }
  }

  private final class Told implements SentListener {
    @Override
    public void sent(long cookie, @Nullable Failure why) {
      onTheirWay--;
      if (why != null && link.sink.isControlLost()) {
        fail(why);
      }
    }

    @Override
    public boolean isWanted(long cookie) {
      return !closing.released || (cookie == LAST && closing.peerReturned);
    }
  }

  /** This end closes; the bound is when it stops waiting for the peer. */
  public final void closeHere(Failure why, long bound) {
    closing.close(bound);
    // Of each kind: also of those that need no peer.
    each(kind -> kind.fail(why));
  }

  /** The peer posts nothing more; its operations may still be in flight. */
  public final void peerStopped(long messagesSent, long bound) {
    closing.peerStopped(bound);
    protocol.peerStops(messagesSent);
  }

  /**
   * The peer's operations are back. It is done once they have arrived, too: what is complete there
   * may be in a socket, or in a queue of a NIC whose software carries it out later. The message
   * that tells so may go over another rail and be read before. If a write then names a region that
   * is closed, a provider may shut the connection, with everything that other communicators have in
   * it, or end the process (efa of libfabric 1.17).
   */
  public final void peerReturned(long writes) {
    closing.peerReturned = true;
    if (!closing.peerDone) {
      closing.awaited = writes;
      awaitWrites(false);
    }
  }

  /** Whether writes of the peer, whose operations are back, are still awaited; not if overdue. */
  public final boolean awaitWrites(boolean overdue) {
    if (closing.awaited == CloseHandshake.NONE) {
      return false;
    }
    boolean arrived = protocol.arrived() >= closing.awaited;
    if (!overdue && !arrived) {
      return true;
    }
    closing.awaited = CloseHandshake.NONE;
    if (arrived) {
      peerDone();
    } else {
      peerVanished();
    }
    return false;
  }

  private void peerDone() {
    closing.peerDone();
    link.peerDone = true;
    each(RequestQueue::settle);
  }

  /**
   * The peer is not waited for any more, though it may be alive and writing. What it may write into
   * is held until that {@linkplain #isCut cannot land}.
   */
  public final void peerVanished() {
    closing.peerDone();
    if (vanishing) {
      return;
    }
    vanishing = true;
    if (messages.isExposed()) {
      cut = link.sink.peer().cut(failure(FailureCause.PEER_LOST, "it may still write"));
    }
    isCut();
  }

  /** Whether what a peer that vanished might write into is no longer held for that. */
  public final boolean isCut() {
    if (vanishing && cut.getAsBoolean()) {
      vanishing = false;
      link.peerVanished = true;
      link.peerDone = true;
      each(RequestQueue::settle);
    }
    return !vanishing;
  }

  /**
   * Its time limit passed: requests in flight are reported as failed, and kept until their
   * operations are back.
   */
  public final void expire() {
    Failure why = failure(FailureCause.TIMED_OUT, "closing took too long");
    each(kind -> kind.expire(why));
  }

  /** The endpoint is closed: nothing can be in flight any more. */
  public final void abandon() {
    closing.localClosed = true;
    Failure why = failure(FailureCause.CLOSED, "its endpoint was closed");
    each(kind -> kind.abandon(why));
  }

  /** It is over, with its id: nothing of it is in flight. */
  public final void release() {
    closing.released = true;
    if (!closing.peerDone) {
      peerVanished();
    }
    freeMailbox.run();
    link.sink.release();
  }

  /** Whether it is gone, with its id and its mailbox. */
  public final boolean isReleased() {
    return closing.released;
  }
}
