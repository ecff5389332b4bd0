package org.jofi.rdma.driver;

import java.util.Arrays;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.PostFlags;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;

/**
 * A transfer over the rails of one role to a peer. A stripe goes over a usable rail, and over
 * another one if that fails, as long as its listener wants that; at most {@link PeerRails#TRIES}
 * times.
 */
abstract class RailTransfer extends Transfer implements OperationOwner {
  private final PeerRails rails;
  private final int[] tries;
  private final Post post = new Post();

  RailTransfer(PeerRails rails, TransferListener listener, int stripes) {
    super(listener, stripes);
    this.rails = rails;
    tries = new int[stripes];
  }

  final PeerRails rails() {
    return rails;
  }

  /** A rail took nothing: what to do about a stripe that goes over it. */
  void refusedNow(int stripe) {
    // Most wait for their rail.
  }

  /** A rail took a stripe. */
  abstract void taken(int stripe, int rail);

  /** A stripe is done. */
  abstract void done(int stripe, int rail);

  /** A stripe came to nothing, on its rail. */
  void takeBack(int stripe) {
    // Most keep no account.
  }

  /**
   * Whether a stripe that is over here, but may land at the peer, is in doubt until that is out of
   * the question: it is told apart then.
   */
  boolean isInDoubt(int stripe, int rail, Failure why) {
    return false;
  }

  @Override
  protected void reset() {
    Arrays.fill(tries, 0);
  }

  @Override
  protected void placed(int stripe) {
    tries[stripe] = 0;
  }

  @Override
  protected boolean advance() {
    for (int stripe = 0; stripe < stripes() && toPost() != 0; stripe++) {
      if (isToBePosted(stripe)) {
        post(stripe);
      }
    }
    return toPost() == 0;
  }

  private void post(int stripe) {
    int rail = usable(stripe);
    if (rail == PeerRails.NONE) {
      if (!rails.mayReturn()) {
        end(stripe, rails.reason(operation(stripe)), Certainty.NOT_EXECUTED, false);
      }
      return;
    }
    int answer = call(stripe, rail);
    if (answer == -FabricErrno.EAGAIN) {
      refusedNow(stripe);
      return;
    }
    tries[stripe]++;
    if (answer == 0) {
      posted(stripe);
      taken(stripe, rail);
    } else {
      Failure why = Failures.ofPost(operation(stripe), rails.rail(rail).port(), -answer);
      if (tellsOfRail(stripe, why)) {
        rails.failed(rail, why);
      }
      move(stripe, rail, why, Certainty.NOT_EXECUTED);
    }
  }

  /**
   * Whether a failure is its rail's. That of a transfer that fails alone may be its own, as when a
   * key was withdrawn; over sockets that breaks the connection, too. So such a transfer does not
   * take the last rail with it, and is tried over each of the others at most; see {@link Fences}.
   */
  final boolean tellsOfRail(int stripe, Failure why) {
    if (!failsAlone()) {
      return true;
    }
    if (kind() == Kind.READ_OWN) {
      return false;
    }
    return Failures.isOfBrokenConnection(why)
        ? tries[stripe] < rails.count() && !isOneRailLeft()
        : why.cause() == FailureCause.PEER_LOST;
  }

  /**
   * Whether this transfer may be what broke its connection, and would break the only one left if it
   * were posted again. It waits then until another rail is back; if none comes back, the link was
   * the cause, and it is posted all the same.
   */
  final boolean mayBreakTheLast(Failure why) {
    return failsAlone() && Failures.isOfBrokenConnection(why) && isOneRailLeft();
  }

  private boolean isOneRailLeft() {
    return Integer.bitCount(rails.usable()) < 2;
  }

  /** The rail for a stripe, which moves if its own is given up; or {@link PeerRails#NONE}. */
  int usable(int stripe) {
    int rail = rails.thatOrAnother(plan().rail(stripe));
    if (rail != PeerRails.NONE) {
      plan().moveTo(stripe, rail);
    }
    return rail;
  }

  /** It failed over a rail; whether it is to be posted again. */
  final boolean move(int stripe, int rail, Failure why, Certainty certainty) {
    takeBack(stripe);
    int other = rails.another(rail, tries[stripe]);
    if (other != PeerRails.NONE) {
      plan().moveTo(stripe, insteadOf(stripe, rail, other));
    }
    return end(stripe, why, certainty, other != PeerRails.NONE);
  }

  /**
   * The rail for a stripe that failed over one.
   *
   * @param other that may be used, another one if there is any
   */
  int insteadOf(int stripe, int rail, int other) {
    return other;
  }

  private String operation(int stripe) {
    return kind() != Kind.WRITE ? "fi_read" : bringsData(stripe) ? "fi_writedata" : "fi_write";
  }

  int call(int stripe, int rail) {
    PeerRail over = rails.rail(rail);
    long from = localAddress(stripe);
    long length = lengthBytes(stripe);
    if (kind() == Kind.READ) {
      post.read(from, length, descriptor(rail), over.number());
    } else if (bringsData(stripe)) {
      post.write(from, length, descriptor(rail), over.number(), over.flags())
          .data(immediate(stripe));
    } else {
      post.write(from, length, descriptor(rail), over.number(), flags(stripe, rail));
    }
    post.remote(remoteAddress(stripe, rail), key(rail));
    return over.port().post(this, stripe, post);
  }

  /** What is posted next. */
  final Post next() {
    return post;
  }

  /** How a write without immediate data is posted, {@link PostFlags}. */
  long flags(int stripe, int rail) {
    return completesOnDelivery(stripe) ? PostFlags.DELIVERY_COMPLETE : rails.rail(rail).flags();
  }

  @Override
  public void completed(long cookie, long lengthBytes) {
    int rail = plan().rail((int) cookie);
    rails.succeeded(rail);
    done((int) cookie, rail);
    end((int) cookie);
  }

  @Override
  public void failed(long cookie, RailPort port, CompletionError error) {
    int stripe = (int) cookie;
    Failure ended = port.isClosed() ? port.retiredFor() : null;
    Failure why = ended == null ? Failures.of(port, error) : ended;
    if (ended == null && tellsOfRail(stripe, why)) {
      rails.failed(port.number(), why);
    }
    Certainty certainty = certainty(port, why);
    if (!isInDoubt(stripe, port.number(), why) && move(stripe, port.number(), why, certainty)) {
      rails.tasks().defer(this);
    }
  }

  /**
   * When an endpoint closes, some providers report what was out to it, others drop it. In either
   * case nothing more will happen of it. Nor of what was in a connection that the peer ended in
   * favour of another: it closed its socket, or reads that to its end before it takes another.
   */
  private Certainty certainty(RailPort port, Failure why) {
    return port.isClosed() || rails.rail(port.number()).wasReplaced(why)
        ? Certainty.OVER
        : Certainty.UNKNOWN;
  }

  @Override
  public void lost(long cookie, RailPort port, Failure why) {
    takeBack((int) cookie);
    lose((int) cookie, why);
  }

  @Override
  public void dropped(long cookie, RailPort port, Failure why) {
    int stripe = (int) cookie;
    if (!isInDoubt(stripe, port.number(), why)) {
      over(stripe, why);
    }
  }

  /** Nothing more of a stripe will happen: it is posted again if its listener wants that. */
  final void over(int stripe, Failure why) {
    if (move(stripe, plan().rail(stripe), why, Certainty.OVER)) {
      rails.tasks().defer(this);
    }
  }

  /** Nothing is known of a stripe, so that it is not posted again. */
  final void giveUp(int stripe, Failure why) {
    takeBack(stripe);
    boolean again = end(stripe, why, Certainty.UNKNOWN, false);
    assert !again;
  }

  @Override
  public int tries(int stripe) {
    return tries[stripe];
  }

  @Override
  public boolean repeat(int stripes) {
    for (int stripe = 0; stripe < stripes(); stripe++) {
      if ((stripes & 1 << stripe) != 0) {
        int other =
            tries[stripe] < PeerRails.TRIES ? rails.after(plan().rail(stripe)) : PeerRails.NONE;
        if (other == PeerRails.NONE) {
          return false;
        }
        plan().moveTo(stripe, other);
      }
    }
    add(stripes);
    return true;
  }

  @Override
  public String railLabel(int stripe) {
    int rail = plan().rail(stripe);
    return rail == PeerRails.NONE ? "any rail" : rails.rail(rail).port().label();
  }
}
