package org.jofi.rdma.driver;

import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;

/** A transfer over the control rails: a stripe goes over whichever takes it. */
final class ControlTransfer extends RailTransfer {
  private int counted;

  ControlTransfer(PeerRails rails, TransferListener listener) {
    super(rails, listener, ProtocolLimits.MAX_GROUP);
  }

  @Override
  protected void added(int stripes) {
    int rail = rails().next();
    for (int stripe = 0; stripe < stripes(); stripe++) {
      if ((stripes & 1 << stripe) != 0 && tries(stripe) == 0) {
        plan().moveTo(stripe, rail);
      }
    }
  }

  @Override
  void refusedNow(int stripe) {
    plan().moveTo(stripe, rails().next());
  }

  @Override
  void taken(int stripe, int rail) {
    counted |= 1 << stripe;
    rails().wrote(rail);
  }

  @Override
  void done(int stripe, int rail) {
    takeBack(stripe);
  }

  @Override
  void takeBack(int stripe) {
    if ((counted & 1 << stripe) != 0) {
      counted &= ~(1 << stripe);
      rails().written(plan().rail(stripe));
    }
  }

  /** It is written from memory that lasts, and the same bytes go to the same place. */
  @Override
  public OperationOwner moveOff(long cookie, PeerRails silent, Failure why) {
    if (!silent.equals(rails())) {
      return this;
    }
    int stripe = (int) cookie;
    if (move(stripe, plan().rail(stripe), why, Certainty.UNKNOWN)) {
      rails().tasks().defer(this);
    }
    return NOBODY;
  }

  @Override
  public void moveLate() {
    // It tries every rail as it is.
  }

  @Override
  public void takeTurn() {
    // Nothing is counted, so it has no turn.
  }

  @Override
  public long progress() {
    return 0;
  }
}
