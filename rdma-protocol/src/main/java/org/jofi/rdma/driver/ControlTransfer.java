package org.jofi.rdma.driver;

import org.jofi.rdma.operation.TransferListener;
import org.jofi.rdma.wire.ProtocolLimits;

/** A transfer over the control rails: a stripe goes over whichever takes it. */
final class ControlTransfer extends RailTransfer {
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
  void taken(int rail) {
    // Announcements are not counted.
  }

  @Override
  void done(int stripe, int rail) {
    // Announcements are not counted.
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
