package org.jofi.rdma.driver;

import org.jofi.counters.written.CounterType;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.PostFlags;
import org.jofi.rdma.nic.Failures;
import org.jofi.rdma.nic.OperationOwner;
import org.jofi.rdma.nic.Post;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.transport.Failure;
import org.jofi.transport.diagnostics.Events;

/**
 * A transfer over the rails of one role to a peer. A stripe goes over a usable rail, and over
 * another one if that fails, as long as its listener wants that; at most {@link PeerRails#TRIES}
 * times.
 */
abstract class RailTransfer extends Transfer implements OperationOwner {
  final PeerRails rails;
  private final Post post = new Post();

  /** Over which rail each stripe was posted last. */
  private final byte[] postedOver;

  RailTransfer(PeerRails rails, TransferListener listener, int stripes) {
    super(listener, stripes);
    this.rails = rails;
    postedOver = new byte[stripes];
  }

  /** A rail took nothing: what to do about a stripe that goes over it. */
  void refusedNow(int stripe) {}

  /** Whether a failure is its rail's. */
  boolean tellsOfRail(int stripe, Failure why) {
    return true;
  }

  /** Whether a stripe that is over here may land at the peer yet, and is dealt with later. */
  boolean mayLand(int stripe, int rail, Failure why) {
    return false;
  }

  @Override
  protected boolean advance() {
    for (int left = in(State.TO_POST); left != 0; left &= left - 1) {
      int stripe = Integer.numberOfTrailingZeros(left);
      // The failure of one may cancel the others.
      if (state(stripe) == State.TO_POST) {
        post(stripe);
      }
    }
    return in(State.TO_POST) == 0;
  }

  private void post(int stripe) {
    int rail = usable(stripe);
    if (rail == PeerRails.NONE) {
      if (!rails.mayReturn()) {
        fail(stripe, ANY_RAIL, rails.reason(operation(stripe)), Certainty.NOT_EXECUTED);
      }
      return;
    }
    moveTo(stripe, rail);
    fill(post, stripe, rail);
    int answer = rails.rail(rail).port.post(this, stripe, post);
    if (answer == -FabricErrno.EAGAIN) {
      refusedNow(stripe);
      return;
    }
    tried(stripe);
    if (answer == 0) {
      if (tries(stripe) > 1) {
        rails.rail(rail).port.counters.add(CounterType.STRIPES_REPEATED, 1);
        tellRepeated(stripe, rail);
      }
      postedOver[stripe] = (byte) rail;
      move(stripe, State.OUT);
    } else {
      Failure why = Failures.ofPost(operation(stripe), rails.rail(rail).port, -answer);
      if (tellsOfRail(stripe, why)) {
        rails.failed(rail, why);
      }
      retry(stripe, why, Certainty.NOT_EXECUTED);
    }
  }

  private void tellRepeated(int stripe, int rail) {
    Events.stripeRepeated(
        operation(stripe),
        rails.rail(postedOver[stripe]).port.label,
        rails.rail(rail).port.label,
        lengthBytes(stripe));
  }

  /** The rail for a stripe, whose own may have been given up; or {@link PeerRails#NONE}. */
  int usable(int stripe) {
    return rails.thatOrAnother(rail(stripe));
  }

  /** It failed over its rail; whether it is to be posted again. */
  private boolean retry(int stripe, Failure why, Certainty certainty) {
    int other = rails.another(rail(stripe), tries(stripe));
    return fail(
        stripe, other == PeerRails.NONE ? ANY_RAIL : insteadOf(stripe, other), why, certainty);
  }

  /** As {@link #retry}, while a queue delivers. */
  final void retryLater(int stripe, Failure why, Certainty certainty) {
    if (retry(stripe, why, certainty)) {
      rails.tasks.defer(this);
    }
  }

  /** The rail for a stripe that failed over its own: the other one, unless there is a better. */
  int insteadOf(int stripe, int other) {
    return other;
  }

  private String operation(int stripe) {
    return kind != Kind.WRITE ? "fi_read" : bringsData(stripe) ? "fi_writedata" : "fi_write";
  }

  void fill(Post next, int stripe, int rail) {
    PeerRail over = rails.rail(rail);
    next.call = kind == Kind.WRITE ? Post.Call.WRITE : Post.Call.READ;
    next.address = localAddress(stripe);
    next.lengthBytes = lengthBytes(stripe);
    next.descriptor = descriptor(rail);
    next.peer = over.entry;
    next.remoteAddress = remoteAddress(stripe, rail);
    next.key = keys[rail];
    next.bringsData = bringsData(stripe);
    next.data = next.bringsData ? immediate(stripe) : 0;
    next.flags = next.bringsData ? over.flags() : flags(stripe, rail);
  }

  /** How a write without immediate data is posted, {@link PostFlags}. */
  long flags(int stripe, int rail) {
    return completesOnDelivery(stripe) ? PostFlags.DELIVERY_COMPLETE : rails.rail(rail).flags();
  }

  @Override
  public void completed(long cookie, long lengthBytes) {
    rails.succeeded(rail((int) cookie));
    complete((int) cookie);
  }

  @Override
  public void failed(long cookie, RailPort port, Failure of) {
    int stripe = (int) cookie;
    Failure ended = port.isClosed() ? port.retiredFor() : null;
    Failure why = ended == null ? of : ended;
    if (ended == null && tellsOfRail(stripe, why)) {
      rails.failed(port.number, why);
    }
    Certainty certainty = certainty(port, why);
    if (!mayLand(stripe, port.number, why)) {
      retryLater(stripe, why, certainty);
    }
  }

  /**
   * When an endpoint closes, some providers report what was out to it, others drop it. In either
   * case nothing more will happen of it. Nor of what was in a connection that the peer ended in
   * favour of another: it closed its socket, or reads that to its end before it takes another.
   */
  private Certainty certainty(RailPort port, Failure why) {
    return port.isClosed() || rails.rail(port.number).wasReplaced(why)
        ? Certainty.OVER
        : Certainty.UNKNOWN;
  }

  @Override
  public void lost(long cookie, RailPort port, Failure why) {
    lose((int) cookie, why);
  }

  /** Nothing is known of a stripe, so that it is not posted again. */
  final void giveUp(int stripe, Failure why) {
    boolean again = fail(stripe, ANY_RAIL, why, Certainty.UNKNOWN);
    assert !again;
  }

  @Override
  public String railLabel(int stripe) {
    int rail = rail(stripe);
    return rail == ANY_RAIL ? "any rail" : rails.rail(rail).port.label;
  }
}
