package org.jofi.rdma.driver;

import org.jofi.rdma.operation.TransferListener;
import org.jofi.rdma.schedule.StripeScheduler;

/** A transfer over the data rails: each stripe keeps its rail, which carries its share. */
final class DataTransfer extends RailTransfer {
  private final StripeScheduler scheduler;
  private final DataProgress progress;
  private final FlushLanding landing;
  private final DataProgress.Turn turn;
  private int waited;

  DataTransfer(
      PeerRails rails,
      StripeScheduler scheduler,
      DataProgress progress,
      FlushLanding landing,
      TransferListener listener) {
    super(rails, listener);
    this.scheduler = scheduler;
    this.progress = progress;
    turn = progress.new Turn();
    this.landing = landing;
  }

  @Override
  protected void reset() {
    super.reset();
    waited = 0;
    turn.open();
  }

  @Override
  public void stripe(long lengthBytes) {
    for (int rail = 0; rail < rails().count(); rail++) {
      if (rails().port(rail).brokenBy() != null) {
        scheduler.exclude(rail);
      }
    }
    if (scheduler.schedule(lengthBytes, plan()) == 0) {
      // Every rail broke: posting finds that out.
      scheduler.restore(0);
      scheduler.schedule(lengthBytes, plan());
      scheduler.exclude(0);
    }
  }

  @Override
  protected void added(int stripes) {
    // Their rails are planned.
  }

  @Override
  protected boolean advance() {
    boolean all = super.advance();
    if (all) {
      takeTurn();
    } else {
      turn.open();
    }
    return all;
  }

  @Override
  int usable(int stripe) {
    // What was written over a rail is flushed by a read over the same one.
    return kind() == Kind.READ_OWN ? plan().rail(stripe) : super.usable(stripe);
  }

  @Override
  int call(int stripe, int rail) {
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
  void done(int rail) {
    progress.complete(rail);
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
  }

  @Override
  public void takeTurn() {
    turn.set();
  }

  @Override
  public long progress() {
    return turn.before();
  }
}
