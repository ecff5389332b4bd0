package org.jofi.rdma.driver;

import java.util.Arrays;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jspecify.annotations.Nullable;

/**
 * A transfer over the data rails. With one rail it is one stripe; with several, the {@link
 * DataFlow} to the peer cuts it. Each stripe keeps its rail unless that fails.
 */
final class DataTransfer extends RailTransfer implements DataFlow.Message {
  private static final byte NOWHERE = -1;

  private final @Nullable PeerFlows flows;
  private final DataProgress progress;
  private final FlushLanding landing;
  private final DataProgress.Turn turn;

  /** The rail on whose account each stripe is; {@link #NOWHERE} if on none. */
  private final byte[] accounts;

  private int waited;
  private boolean waits;
  private boolean delivered;

  /**
   * @param flows to the peer; null with one rail
   */
  DataTransfer(
      PeerRails rails,
      @Nullable PeerFlows flows,
      DataProgress progress,
      FlushLanding landing,
      TransferListener listener) {
    super(rails, listener, ProtocolLimits.stripes(rails.count()));
    this.flows = flows;
    this.progress = progress;
    turn = progress.new Turn();
    this.landing = landing;
    accounts = new byte[ProtocolLimits.stripes(rails.count())];
  }

  @Override
  protected void reset() {
    super.reset();
    waited = 0;
    delivered = false;
    turn.open();
    Arrays.fill(accounts, NOWHERE);
  }

  private @Nullable DataFlow flow() {
    PeerFlows both = flows;
    if (both == null || kind() == Kind.READ_OWN) {
      return null;
    }
    return kind() == Kind.READ ? both.reads() : both.writes();
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
  public boolean isDelivered() {
    return delivered;
  }

  @Override
  public void deliver(boolean value) {
    delivered = value;
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
    int usable = 0;
    for (int rail = 0; rail < rails().count(); rail++) {
      usable |= rails().isUsable(rail) ? 1 << rail : 0;
    }
    return usable;
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
      flow.give(rail, lengthBytes(stripe));
    }
  }

  @Override
  void takeBack(int stripe) {
    DataFlow flow = flow();
    int rail = accounts[stripe];
    if (flow != null && rail != NOWHERE) {
      accounts[stripe] = NOWHERE;
      flow.takeBack(rail, lengthBytes(stripe));
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

  @Override
  int usable(int stripe) {
    // What was written over a rail is flushed by a read over the same one.
    return kind() == Kind.READ_OWN ? plan().rail(stripe) : super.usable(stripe);
  }

  @Override
  boolean needsDelivery() {
    return delivered;
  }

  @Override
  int call(int stripe, int rail) {
    account(stripe, rail);
    return kind() == Kind.READ_OWN
        ? rails()
            .port(rail)
            .read(
                this,
                stripe,
                landing.address(rail),
                lengthBytes(stripe),
                landing.descriptor(rail),
                landing.self(rail),
                remoteAddress(stripe, rail),
                key(rail))
        : super.call(stripe, rail);
  }

  @Override
  void taken(int rail) {
    progress.post(rail);
  }

  @Override
  void done(int stripe, int rail) {
    progress.complete(rail);
    DataFlow flow = flow();
    if (flow != null && accounts[stripe] != NOWHERE) {
      accounts[stripe] = NOWHERE;
      flow.done(this, rail, lengthBytes(stripe));
    }
  }

  @Override
  public void moveLate() {
    int late = toPost() & waited;
    waited = toPost();
    for (int stripe = 0; stripe < stripes(); stripe++) {
      if ((late & 1 << stripe) != 0) {
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
