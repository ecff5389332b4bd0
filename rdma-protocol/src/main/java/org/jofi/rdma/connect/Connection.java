package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.endpoint.OutgoingMessage;
import org.jofi.rdma.endpoint.PeerRails;
import org.jofi.rdma.endpoint.SentListener;
import org.jofi.rdma.message.OneSided;
import org.jofi.rdma.message.PeerLink;
import org.jofi.rdma.message.RequestQueue;
import org.jofi.rdma.schedule.StripeScheduler;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.RemoteMemory;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection, from the time it is made until it is released.
 *
 * <pre>
 * OPEN -- close --&gt; quiet: CLOSE sent -- the peer's CLOSE or CLOSED, or the bound --&gt; released
 * OPEN -- failure, abort --&gt; ABORT sent, then as for a close
 * OPEN -- the peer's CLOSE or ABORT --&gt; quiet: CLOSED sent -- close --&gt; released
 * OPEN -- the peer is lost --&gt; quiet --&gt; released
 * </pre>
 */
public abstract class Connection {
  private static final long NONE = -1;

  /** Cookie of a message that the peer needs even if this side is released before it leaves. */
  private static final long LAST = 1;

  private final Mailbox mailbox;
  private final PeerLink link;
  private final RequestQueue messages;
  private final OneSided oneSided;
  private final RequestQueue[] kinds;
  private final Liveness liveness;
  private final SentListener onWay = new Told();
  private Runnable listener = () -> {};
  private boolean localClosed;
  private boolean aborted;
  private boolean peerClosed;
  private boolean peerDone;
  private boolean peerReturned;
  private boolean told;
  private boolean everHeard;
  private boolean released;
  private int onTheirWay;

  /** How many of the peer's writes are to come before it is done; none if nothing is awaited. */
  private long awaited = NONE;

  private long deadline;
  private long toldAt;

  /**
   * @param scheduler the endpoint's
   * @param messages its messages, whose failure is the side's
   * @param local requests that need no peer
   */
  Connection(
      Mailbox mailbox,
      PeerLink link,
      StripeScheduler scheduler,
      long silenceNs,
      RequestQueue messages,
      RequestQueue... local) {
    this.mailbox = mailbox;
    this.link = link;
    this.messages = messages;
    oneSided = new OneSided(link, scheduler);
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
    return link.id();
  }

  /** The peer's number on the first control rail, which all its communicators share. */
  final long peer() {
    return link.control().peer(0);
  }

  /** The control rails to the peer. */
  final PeerRails control() {
    return link.control();
  }

  /** How many messages this side started. */
  abstract long started();

  abstract void immediate(int bits);

  abstract void trueLength(long receiveIndex, long lengthBytes);

  /** How many of this side's writes the peer will have seen when all have arrived. */
  abstract long writes();

  /** How many of the peer's writes have arrived. */
  abstract long arrived();

  /** How many messages this side sent to the end. */
  abstract long finished();

  /** The first receive whose entry this side does not see; 0 if it sends none. */
  abstract long unseen();

  /**
   * The peer reported how many messages it has finished, and the first receive whose entry it does
   * not see.
   */
  abstract void peerIsAt(long finished, long unseen);

  /** Whether a stripe arrived: as {@link org.jofi.rdma.message.Receiver#hasStripe}. */
  abstract int hasStripe(long receiveIndex, int stripe);

  /** A stripe was written again. */
  abstract void written(long receiveIndex, int immediate);

  /** The peer told whether a stripe arrived; whether that was asked. */
  abstract boolean answered(long receiveIndex, int stripe, int tries, boolean arrived);

  /** The completion queue of a rail broke, so that arrivals over it are not noticed any more. */
  abstract void queueBroke(Failure why);

  /** The peer posts nothing more; it has started this many messages. */
  abstract void peerStops(long messages);

  /** Why its messages, and with them the side, failed; null while it works. */
  public final @Nullable Failure failure() {
    return messages.failure();
  }

  private RequestQueue kindOf(long request) {
    for (int i = 1; i < kinds.length; i++) {
      if (kinds[i].owns(request)) {
        return kinds[i];
      }
    }
    return messages;
  }

  /** How a request fares; without progress. A request that is over is reported once. */
  public final long test(long request) {
    return kindOf(request).test(request);
  }

  /** How a request failed; null if it did not, or is forgotten. */
  public final @Nullable Failure failure(long request) {
    return kindOf(request).failure(request);
  }

  /** Whether a request may still use its memory: it is not over, or its operations are not. */
  public final boolean usesMemory(long request) {
    return kindOf(request).usesMemory(request);
  }

  /** As {@link org.jofi.transport.Comm#iwrite}, with the lock held; see {@link OneSided#write}. */
  public final long write(
      long address,
      long lengthBytes,
      DataRegistration registration,
      RemoteMemory remote,
      long remoteOffsetBytes) {
    return oneSided.write(address, lengthBytes, registration, remote, remoteOffsetBytes);
  }

  /**
   * As {@link org.jofi.transport.Comm#iwriteInline}, with the lock held; see {@link
   * OneSided#writeInline}.
   */
  public final long writeInline(
      long address, long lengthBytes, RemoteMemory remote, long remoteOffsetBytes) {
    return oneSided.writeInline(address, lengthBytes, remote, remoteOffsetBytes);
  }

  /** As {@link org.jofi.transport.Comm#iread}, with the lock held; see {@link OneSided#read}. */
  public final long read(
      long address,
      long lengthBytes,
      DataRegistration registration,
      RemoteMemory remote,
      long remoteOffsetBytes) {
    return oneSided.read(address, lengthBytes, registration, remote, remoteOffsetBytes);
  }

  final void onFailure(Runnable told) {
    listener = told;
  }

  final boolean isQuiet() {
    for (RequestQueue kind : kinds) {
      if (!kind.isQuiet()) {
        return false;
      }
    }
    return true;
  }

  /** Fails requests in flight that need the peer, and requests that are posted from now on. */
  final void fail(Failure why) {
    messages.fail(why);
    oneSided.fail(why);
  }

  final Failure failure(FailureCause cause, String detail) {
    return new Failure(cause, 0, "communicator %d".formatted(id().from()), detail);
  }

  final boolean isFrom(MemorySegment message, long at) {
    return MessageHeader.from(message, at) == id().to()
        && MessageHeader.fromGeneration(message, at) == id().toGeneration()
        && MessageHeader.attempt(message, at) == id().attempt();
  }

  /**
   * A message of the peer arrived. It names this side's communicator, which a connector learns from
   * the ACCEPT, with the addresses that it inserts at once.
   */
  final void hear() {
    everHeard = true;
    link.peerKnowsThisSide();
    liveness.hear();
  }

  /** Whether anything of the peer ever arrived on this connection. */
  final boolean isHeard() {
    return everHeard;
  }

  /**
   * Checks the time limits of requests, and whether the peer is alive: as {@link Liveness#check}.
   */
  final int check(long now, long requestNs) {
    boolean waits = localClosed && told;
    for (RequestQueue kind : kinds) {
      kind.check(now, requestNs);
      if (kind.wasHeard()) {
        liveness.hear();
      }
      waits |= kind.waits();
    }
    return liveness.check(!peerDone && waits, now);
  }

  /** Whether few enough messages are on their way that a question or its answer may follow. */
  final boolean mayAsk() {
    return onTheirWay <= link.endpoint().controlCount();
  }

  /**
   * Sends a message about the connection itself. If this side is released before it could be
   * posted, it is dropped, unless it is the last one, and the peer has told its own end.
   *
   * @param last whether it tells that this side's operations are complete
   */
  final void send(OutgoingMessage message, boolean last) {
    onTheirWay++;
    link.send(message, onWay, last ? LAST : 0);
  }

  private final class Told implements SentListener {
    @Override
    public void sent(long cookie, @Nullable Failure why) {
      onTheirWay--;
      if (why != null && link.control().isLost()) {
        fail(why);
      }
    }

    @Override
    public boolean isWanted(long cookie) {
      return !released || (cookie == LAST && peerReturned);
    }
  }

  final void closeHere(Failure why, long bound) {
    localClosed = true;
    deadline = bound;
    // Of each kind: also of those that need no peer.
    for (RequestQueue kind : kinds) {
      kind.fail(why);
    }
  }

  final void abortHere(Failure why, long bound) {
    aborted = true;
    closeHere(why, bound);
  }

  final boolean isAborted() {
    return aborted;
  }

  /** The peer posts nothing more; its operations may still be in flight. */
  final void peerStopped(long messages, long bound) {
    if (!localClosed) {
      deadline = bound;
    }
    peerClosed = true;
    peerStops(messages);
  }

  /**
   * The peer's operations are back. It is done once they have arrived, too, where that may take
   * longer.
   *
   * @param writes how many the peer made of those that this side sees
   */
  final void peerReturned(long writes) {
    peerReturned = true;
    if (peerDone) {
      return;
    }
    if (link.writesMayBeOnTheirWay()) {
      awaited = writes;
      awaitWrites(false);
    } else {
      peerDone();
    }
  }

  /** Whether writes of the peer, whose operations are back, are still awaited; not if overdue. */
  final boolean awaitWrites(boolean overdue) {
    if (awaited == NONE) {
      return false;
    }
    boolean arrived = arrived() >= awaited;
    if (!overdue && !arrived) {
      return true;
    }
    awaited = NONE;
    if (arrived) {
      peerDone();
    } else {
      peerVanished();
    }
    return false;
  }

  /** The peer's operations are back and have arrived. */
  final void peerDone() {
    peerClosed = true;
    peerDone = true;
    for (RequestQueue kind : kinds) {
      kind.peerDone();
    }
  }

  /** The peer is not waited for any more, though it may be alive and writing. */
  final void peerVanished() {
    peerClosed = true;
    peerDone = true;
    for (RequestQueue kind : kinds) {
      kind.peerVanished();
    }
  }

  /**
   * Its time limit passed: requests in flight are reported as failed, and kept until their
   * operations are back.
   */
  final void expire() {
    Failure why = failure(FailureCause.TIMED_OUT, "closing took too long");
    for (RequestQueue kind : kinds) {
      kind.expire(why);
    }
  }

  /** The endpoint is closed: nothing can be in flight any more. */
  final void abandon() {
    localClosed = true;
    Failure why = failure(FailureCause.CLOSED, "its endpoint was closed");
    for (RequestQueue kind : kinds) {
      kind.abandon(why);
    }
  }

  final boolean isLocalClosed() {
    return localClosed;
  }

  final boolean isPeerClosed() {
    return peerClosed;
  }

  final boolean isPeerDone() {
    return peerDone;
  }

  final boolean isTold() {
    return told;
  }

  final void tell(long now) {
    told = true;
    toldAt = now;
  }

  /** Whether its end was told so long ago; counts from now then. */
  final boolean isTellDue(long now, long everyNs) {
    boolean due = told && now - toldAt >= everyNs;
    if (due) {
      toldAt = now;
    }
    return due;
  }

  final boolean isOverdue(long now) {
    return now - deadline >= 0;
  }

  final void release() {
    released = true;
    if (!peerDone) {
      peerVanished();
    }
    mailbox.close();
  }

  /** Whether it is gone, with its id and its mailbox. */
  public final boolean isReleased() {
    return released;
  }
}
