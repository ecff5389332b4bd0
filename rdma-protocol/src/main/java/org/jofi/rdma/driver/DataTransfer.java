package org.jofi.rdma.driver;

import java.util.Arrays;
import org.jofi.fabric.CompletionError;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A transfer over the data rails. With one rail it is one stripe; with several, the {@link
 * DataFlow} to the peer cuts it. Each stripe keeps its rail unless that fails.
 */
final class DataTransfer extends RailTransfer implements DataFlow.Message {
  private static final byte NOWHERE = -1;

  private final Peer peer;
  private final DataProgress progress;
  private final FlushLanding landing;
  private final DataProgress.Turn turn;

  /** The rail on whose account each stripe is; {@link #NOWHERE} if on none. */
  private final byte[] accounts;

  /** How many stripes are on the account of a rail. */
  private int out;

  private int waited;
  private boolean waits;

  /** Stripes that may go over their rail alone, a bit each; {@link #isInOrder}. */
  private int inOrder;

  /** The epoch of the peer's endpoint to which each stripe was posted. */
  private final int[] epochs;

  DataTransfer(Peer peer, DataProgress progress, FlushLanding landing, TransferListener listener) {
    super(peer.data(), listener, ProtocolLimits.stripes(peer.data().count()));
    this.peer = peer;
    this.progress = progress;
    turn = progress.new Turn();
    this.landing = landing;
    accounts = new byte[ProtocolLimits.stripes(rails().count())];
    epochs = new int[accounts.length];
  }

  @Override
  protected void reset() {
    super.reset();
    waited = 0;
    out = 0;
    inOrder = 0;
    turn.open();
    Arrays.fill(accounts, NOWHERE);
  }

  private @Nullable DataFlow flow() {
    return switch (kind()) {
      case READ_OWN -> null;
      case READ -> peer.reads();
      case WRITE -> peer.writes();
    };
  }

  @Override
  protected boolean advance() {
    if (!isBound()) {
      DataFlow flow = flow();
      if (flow == null) {
        bind(0, unbound());
      } else {
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
    if (all && isBound()) {
      takeTurn();
    } else {
      turn.open();
    }
    return all;
  }

  @Override
  public void post() {
    if (!postNow()) {
      rails().tasks().defer(this);
    }
  }

  @Override
  public boolean waits() {
    return waits;
  }

  @Override
  public void waits(boolean value) {
    waits = value;
  }

  @Override
  public int usableRails() {
    return rails().trusted();
  }

  @Override
  public boolean mayWait() {
    return rails().mayReturn();
  }

  @Override
  public int out() {
    return out;
  }

  @Override
  public long left() {
    return unbound();
  }

  @Override
  public long bytes() {
    return spread();
  }

  @Override
  public void cut(int rail, long lengthBytes) {
    account(bind(rail, lengthBytes), rail);
  }

  private void account(int stripe, int rail) {
    DataFlow flow = flow();
    if (flow != null && accounts[stripe] != rail) {
      takeBack(stripe);
      accounts[stripe] = (byte) rail;
      out++;
      flow.give(this, rail, lengthBytes(stripe));
    }
  }

  @Override
  void takeBack(int stripe) {
    DataFlow flow = flow();
    int rail = accounts[stripe];
    if (flow != null && rail != NOWHERE) {
      accounts[stripe] = NOWHERE;
      out--;
      flow.takeBack(this, rail, lengthBytes(stripe));
    }
  }

  @Override
  protected void dropped(int stripes) {
    for (int stripe = 0; stripe < stripes(); stripe++) {
      if ((stripes & 1 << stripe) != 0) {
        takeBack(stripe);
      }
    }
  }

  @Override
  protected void added(int stripes) {
    // Their rails are planned.
  }

  /** Of the others, the one that is through with what is out on it first. */
  @Override
  int insteadOf(int stripe, int rail, int other) {
    if (isInOrder(stripe)) {
      return rail;
    }
    DataFlow flow = flow();
    return flow == null ? other : flow.soonest(other, rails().trusted() & ~(1 << rail));
  }

  @Override
  int usable(int stripe) {
    // What was written over a rail is flushed by a read over the same one.
    if (kind() != Kind.READ_OWN) {
      return super.usable(stripe);
    }
    int rail = plan().rail(stripe);
    return rails().rail(rail).port().brokenBy() == null ? rail : PeerRails.NONE;
  }

  /**
   * A write of which nothing is known may land yet, for bytes may be in a socket, or in the fabric;
   * and so may what a read asked for, unless its endpoint is closed. So its rail is used no more,
   * if there is another one, until the peer has closed its end of it.
   */
  @Override
  boolean isInDoubt(int stripe, int rail, Failure why) {
    PeerRails rails = rails();
    if (kind() != Kind.READ_OWN
        && !isInOrder(stripe)
        && rails.isUsable(rail)
        && rails.rail(rail).wasReplaced(why)) {
      inOrder |= 1 << stripe;
      return false;
    }
    if (kind() == Kind.READ_OWN
        || (kind() == Kind.READ && rails.rail(rail).port().isClosed())
        || (rails.isUsable(rail) && !tellsOfRail(stripe, why))) {
      return false;
    }
    if (rails.isUsable(rail)) {
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
    takeBack(stripe);
    peer.fences().await(this, stripe, rail, epochs[stripe], why);
  }

  /**
   * Whether a stripe was in a connection that was replaced: the peer reads that to its end before
   * it takes another, so nothing of it lands after what is posted next over the same rail. A second
   * one that breaks is more than that.
   */
  private boolean isInOrder(int stripe) {
    return (inOrder & 1 << stripe) != 0;
  }

  /** If their rail was given up meanwhile, they may land after what goes over others. */
  private void fenceWhatWasInOrder() {
    PeerRails rails = rails();
    for (int left = inOrder & toPost(); left != 0; left &= left - 1) {
      int stripe = Integer.numberOfTrailingZeros(left);
      int rail = plan().rail(stripe);
      Failure why = rails.rail(rail).cause();
      if (why != null && rails.count() > 1 && !rails.isLost()) {
        posted(stripe);
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
    RailPort port = rails().rail(rail).port();
    if (kind() != Kind.WRITE
        || port.isClosed()
        || !port.rail().domain().info().traits().completionMeansDelivered()) {
      return false;
    }
    giveUp(
        stripe,
        new Failure(
            why.cause(),
            why.errno(),
            why.where(),
            why.detail() + "; it may land yet, so it is not repeated: no other rail is left"));
    return true;
  }

  @Override
  int call(int stripe, int rail) {
    account(stripe, rail);
    if (kind() != Kind.READ_OWN) {
      return super.call(stripe, rail);
    }
    next()
        .read(
            landing.address(rail),
            lengthBytes(stripe),
            landing.descriptor(rail),
            landing.self(rail))
        .remote(remoteAddress(stripe, rail), key(rail));
    return rails().rail(rail).port().post(this, stripe, next());
  }

  @Override
  void taken(int stripe, int rail) {
    progress.post(rail);
    peer.stall().took(kind());
    epochs[stripe] = rails().rail(rail).epoch();
  }

  @Override
  public void failed(long cookie, RailPort port, CompletionError error) {
    peer.stall().failed(kind());
    super.failed(cookie, port, error);
  }

  @Override
  public void lost(long cookie, RailPort port, Failure why) {
    peer.stall().failed(kind());
    super.lost(cookie, port, why);
  }

  @Override
  public void dropped(long cookie, RailPort port, Failure why) {
    peer.stall().failed(kind());
    super.dropped(cookie, port, why);
  }

  @Override
  void done(int stripe, int rail) {
    peer.stall().done(kind());
    progress.complete(rail);
    inOrder &= ~(1 << stripe);
    DataFlow flow = flow();
    if (flow != null && accounts[stripe] != NOWHERE) {
      accounts[stripe] = NOWHERE;
      out--;
      flow.done(this, rail, lengthBytes(stripe));
    }
  }

  @Override
  public void moveLate() {
    int late = toPost() & waited;
    waited = toPost();
    for (int stripe = 0; stripe < stripes(); stripe++) {
      if ((late & 1 << stripe) != 0 && !isInOrder(stripe)) {
        // A rail may take nothing while others do.
        int other = rails().after(plan().rail(stripe));
        plan().moveTo(stripe, other == PeerRails.NONE ? plan().rail(stripe) : other);
      }
    }
    DataFlow flow = flow();
    if (flow != null) {
      flow.goOn();
    }
  }

  @Override
  public void takeTurn() {
    turn.set();
  }

  @Override
  public long progress() {
    DataFlow flow = isBound() ? null : flow();
    return turn.before() + (flow == null ? 0 : flow.finished());
  }
}
