package org.jofi.rdma.driver;

import org.jofi.rdma.nic.Failures;
import org.jofi.rdma.nic.FlushLanding;
import org.jofi.rdma.nic.Post;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * A transfer over the data rails. With one rail it is one stripe; with several, the {@link
 * DataFlow} to the peer cuts it. Each stripe keeps its rail unless that fails.
 */
final class DataTransfer extends RailTransfer implements DataFlow.Message {
  private final Peer peer;
  private final FlushLanding landing;

  /** What was to be posted at the last look, a bit each. */
  private int waited;

  /** Whether the rest of it is with the flow, which cuts it. */
  private boolean isWithFlow;

  /** After how many operations on each rail it is due, if all of it is posted. */
  private final long[] turn;

  private boolean hasTurn;

  /**
   * Stripes that were in a connection that was replaced, a bit each: the peer reads that to its end
   * before it takes another, so nothing of them lands after what is posted next over the same rail.
   * A second one that breaks is more than that.
   */
  private int inOrder;

  /** The epoch of the peer's endpoint to which each stripe was posted. */
  private final int[] epochs;

  DataTransfer(Peer peer, TransferListener listener) {
    super(peer.data, listener, ProtocolLimits.stripes(peer.data.count()));
    this.peer = peer;
    landing = peer.driver.landing;
    epochs = new int[ProtocolLimits.stripes(rails.count())];
    turn = new long[rails.count()];
  }

  @Override
  protected void reset() {
    waited = 0;
    isWithFlow = false;
    inOrder = 0;
    hasTurn = false;
  }

  private @Nullable DataFlow flow() {
    return peer.flow(kind);
  }

  @Override
  protected boolean advance() {
    if (!isBound()) {
      DataFlow flow = flow();
      if (flow == null) {
        bind(0, unbound());
      } else if (!isWithFlow) {
        isWithFlow = true;
        flow.enter(this);
      }
    }
    return postNow();
  }

  /** Posts what is to be posted; whether all was taken. */
  private boolean postNow() {
    if (inOrder != 0) {
      fenceWhatWasInOrder();
    }
    boolean all = super.advance();
    hasTurn = false;
    if (all && isBound()) {
      takeTurn();
    }
    return all;
  }

  @Override
  public void post() {
    if (!postNow()) {
      rails.tasks.defer(this);
    }
  }

  @Override
  public int usableRails() {
    return rails.trusted();
  }

  @Override
  public boolean mayWait() {
    return rails.mayReturn();
  }

  @Override
  protected void changed(int stripe, State before, int beforeRail) {
    State now = state(stripe);
    boolean completed = before == State.OUT && (now == State.DONE || now == State.WRITTEN);
    DataStall stall = peer.stall(kind);
    if (before == State.OUT) {
      rails.rail(beforeRail).dataCompleted += completed ? 1 : 0;
      rails.rail(beforeRail).dataPosted -= completed ? 0 : 1;
      inOrder &= completed ? ~(1 << stripe) : -1;
      if (stall != null) {
        stall.back(completed);
      }
    } else if (now == State.OUT) {
      rails.rail(rail(stripe)).dataPosted++;
      epochs[stripe] = rails.rail(rail(stripe)).epoch;
      if (stall != null) {
        stall.took();
      }
    }
    DataFlow flow = flow();
    int from = before.isOnRail() ? beforeRail : ANY_RAIL;
    int to = now.isOnRail() ? rail(stripe) : ANY_RAIL;
    if (flow != null && from != to) {
      if (completed) {
        flow.done(from, lengthBytes(stripe), bytes());
      } else if (from != ANY_RAIL) {
        flow.takeBack(from, lengthBytes(stripe));
      }
      if (to != ANY_RAIL) {
        flow.give(to, lengthBytes(stripe));
      }
    }
  }

  /** Of the others, the one that is through with what is out on it first. */
  @Override
  int insteadOf(int stripe, int other) {
    int rail = rail(stripe);
    if (isInOrder(stripe)) {
      return rail;
    }
    DataFlow flow = flow();
    return flow == null ? other : flow.soonest(other, rails.trusted() & ~(1 << rail));
  }

  @Override
  int usable(int stripe) {
    // What was written over a rail is flushed by a read over the same one.
    if (kind != Kind.READ_OWN) {
      return super.usable(stripe);
    }
    int rail = rail(stripe);
    return rails.rail(rail).port.brokenBy() == null ? rail : PeerRails.NONE;
  }

  @Override
  void fill(Post next, int stripe, int rail) {
    super.fill(next, stripe, rail);
    if (kind == Kind.READ_OWN) {
      next.address = landing.address(rail);
      next.descriptor = landing.descriptor(rail);
      next.peer = landing.self(rail);
    }
  }

  /**
   * That of a transfer that fails alone may be its own, as when a key was withdrawn; over sockets
   * that breaks the connection, too. So such a transfer does not take the last rail with it, and is
   * tried over each of the others at most; see {@link Fences}.
   */
  @Override
  boolean tellsOfRail(int stripe, Failure why) {
    if (!failsAlone) {
      return true;
    }
    if (kind == Kind.READ_OWN) {
      return false;
    }
    return Failures.isOfBrokenConnection(why)
        ? tries(stripe) < rails.count() && !isOneRailLeft()
        : why.cause() == FailureCause.PEER_LOST;
  }

  /**
   * Whether this transfer may be what broke its connection, and would break the only one left if it
   * were posted again. It waits then until another rail is back; if none comes back, the link was
   * the cause, and it is posted all the same.
   */
  boolean mayBreakTheLast(Failure why) {
    return failsAlone && Failures.isOfBrokenConnection(why) && isOneRailLeft();
  }

  private boolean isOneRailLeft() {
    return Integer.bitCount(rails.usable()) < 2;
  }

  /**
   * A write of which nothing is known may land yet, for bytes may be in a socket, or in the fabric;
   * and so may what a read asked for, unless its endpoint is closed. So its rail is used no more,
   * if there is another one, until the peer has closed its end of it.
   */
  @Override
  boolean mayLand(int stripe, int rail, Failure why) {
    if (kind == Kind.READ_OWN || (kind == Kind.READ && rails.rail(rail).port.isClosed())) {
      return false;
    }
    if (rails.isUsable(rail)) {
      if (!isInOrder(stripe) && rails.rail(rail).wasReplaced(why)) {
        inOrder |= 1 << stripe;
        return false;
      }
      if (!tellsOfRail(stripe, why)) {
        return false;
      }
      if (!rails.hasOther(rail)) {
        return endsUnlessInOrder(stripe, rail, why);
      }
      rails.lose(rail, why);
    }
    if (rails.count() == 1 || rails.isLost()) {
      return false;
    }
    awaitFence(stripe, rail, why);
    return true;
  }

  private void awaitFence(int stripe, int rail, Failure why) {
    inOrder &= ~(1 << stripe);
    move(stripe, State.LINGERING);
    peer.fences.await(this, stripe, rail, epochs[stripe], why);
  }

  private boolean isInOrder(int stripe) {
    return (inOrder & 1 << stripe) != 0;
  }

  /** If their rail was given up meanwhile, they may land after what goes over others. */
  private void fenceWhatWasInOrder() {
    for (int left = inOrder & in(State.TO_POST); left != 0; left &= left - 1) {
      int stripe = Integer.numberOfTrailingZeros(left);
      int rail = rail(stripe);
      Failure why = rails.rail(rail).cause();
      if (why != null && rails.count() > 1 && !rails.isLost()) {
        awaitFence(stripe, rail, why);
      }
    }
  }

  /**
   * Over the only rail that is left a write is repeated if its provider keeps the order of what
   * goes to a peer. A NIC need not: the first one could land after the second was reported. So it
   * ends here; whether it did.
   */
  private boolean endsUnlessInOrder(int stripe, int rail, Failure why) {
    RailPort port = rails.rail(rail).port;
    if (kind != Kind.WRITE
        || port.isClosed()
        || !port.rail().domain().info().traits().completionMeansDelivered()) {
      return false;
    }
    String detail =
        why.detail() + "; it may land yet, so it is not repeated: no other rail is left";
    giveUp(stripe, new Failure(why.cause(), why.errno(), why.where(), detail));
    return true;
  }

  @Override
  public void moveLate() {
    int late = in(State.TO_POST) & waited & ~inOrder;
    waited = in(State.TO_POST);
    for (; late != 0; late &= late - 1) {
      // A rail may take nothing while others do.
      int stripe = Integer.numberOfTrailingZeros(late);
      int other = rails.after(rail(stripe));
      if (other != PeerRails.NONE) {
        moveTo(stripe, other);
      }
    }
    DataFlow flow = flow();
    if (flow != null) {
      flow.goOn();
    }
  }

  @Override
  public void takeTurn() {
    hasTurn = true;
    for (int rail = 0; rail < turn.length; rail++) {
      turn[rail] = rails.rail(rail).dataPosted;
    }
  }

  @Override
  public long progress() {
    DataFlow flow = isBound() ? null : flow();
    long before = flow == null ? 0 : flow.finished();
    for (int rail = 0; rail < turn.length; rail++) {
      long completed = rails.rail(rail).dataCompleted;
      before += hasTurn ? Math.min(completed, turn[rail]) : completed;
    }
    return before;
  }
}
