package org.jofi.rdma.driver;

import org.jofi.fabric.PostFlags;
import org.jofi.rdma.nic.OperationOwner;
import org.jofi.rdma.nic.RailUser;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;

/**
 * A transfer over the control rails: a stripe goes over whichever takes it. Over several sockets, a
 * stripe that does not complete on delivery is done when it left, and its arrival is known by that
 * of what follows it: {@link UnansweredMessages}.
 */
final class ControlTransfer extends RailTransfer {
  private final long[] written;
  private final long[] places = new long[ProtocolLimits.MAX_GROUP];

  /** Stripes that ask for word of their arrival, a bit each. */
  private int asking;

  ControlTransfer(PeerRails rails, long[] written, TransferListener listener) {
    super(rails, listener, ProtocolLimits.MAX_GROUP);
    this.written = written;
  }

  @Override
  protected void reset() {
    asking = 0;
  }

  @Override
  void refusedNow(int stripe) {
    moveTo(stripe, rails.next());
  }

  @Override
  long flags(int stripe, int rail) {
    boolean asks =
        completesOnDelivery(stripe)
            || !rails.rail(rail).hasCarried
            || rails.unanswered.asks(rail, true);
    if (asks) {
      asking |= 1 << stripe;
      return super.flags(stripe, rail);
    }
    asking &= ~(1 << stripe);
    return PostFlags.NONE;
  }

  private boolean asks(int stripe) {
    return (asking & 1 << stripe) != 0;
  }

  @Override
  protected void changed(int stripe, State before, int beforeRail) {
    if (before == State.OUT) {
      rails.rail(beforeRail).writesOut--;
    } else if (state(stripe) == State.OUT) {
      int rail = rail(stripe);
      rails.rail(rail).writesOut++;
      places[stripe] = rails.unanswered.posted(rail, asks(stripe));
      if (!asks(stripe)) {
        written[rail] = places[stripe];
      }
    }
  }

  @Override
  public void completed(long cookie, long lengthBytes) {
    int stripe = (int) cookie;
    int rail = rail(stripe);
    if (asks(stripe)) {
      rails.unanswered.arrived(rail, places[stripe]);
      super.completed(cookie, lengthBytes);
    } else {
      rails.unanswered.wrote(rail, places[stripe]);
      complete(stripe);
    }
  }

  /**
   * It is written from memory that lasts, and the same bytes go to the same place. If that memory
   * is used again first, a late one brings a line that is too new, or torn, or of another
   * connection: the peer tells by its stamp, or has it early.
   */
  @Override
  public OperationOwner moveOff(long cookie, RailUser silent, Failure why) {
    if (!silent.equals(rails)) {
      return this;
    }
    retryLater((int) cookie, why, Certainty.UNKNOWN);
    return NOBODY;
  }
}
