package org.jofi.rdma.driver;

import java.util.ArrayList;
import java.util.List;
import org.jofi.rdma.operation.Certainty;
import org.jofi.transport.Failure;

/**
 * What went to one peer over rails that closed, or failed, before it was done: until the peer has
 * closed its endpoint of that rail, too, it may land. So nothing of it is repeated, and its memory
 * at the peer is not let go of, before the peer says that it did. Used with the endpoint's lock
 * held.
 */
final class Fences {
  /** After so long the peer counts as one that does not answer: nothing is repeated then. */
  private static final long BOUND_NS = 10_000_000_000L;

  private static final long AGAIN_NS = 200_000_000L;

  /** A rail whose link works is in use again by then, if it was lost for the first time. */
  private static final long RETURN_NS = 2_000_000_000L;

  private static final long UNASKED = Long.MIN_VALUE;

  private final List<Doubt> doubts = new ArrayList<>(0);

  private static final class Doubt {
    final DataTransfer transfer;
    final int stripe;
    final int rail;
    final int epoch;
    final Failure why;
    long since = UNASKED;
    long askedAt = UNASKED;

    /** For how long it is held, when that is closed, until two rails are in use; 0 before. */
    long heldNs;

    Doubt(DataTransfer transfer, int stripe, int rail, int epoch, Failure why) {
      this.transfer = transfer;
      this.stripe = stripe;
      this.rail = rail;
      this.epoch = epoch;
      this.why = why;
    }
  }

  /** A stripe may land until the peer's endpoint of that epoch is closed; it is told of that. */
  void await(DataTransfer transfer, int stripe, int rail, int epoch, Failure why) {
    doubts.add(new Doubt(transfer, stripe, rail, epoch, why));
  }

  boolean isEmpty() {
    return doubts.isEmpty();
  }

  /** The peer closed its endpoints before that one: nothing more of what went there will happen. */
  void passed(int rail, int epoch) {
    for (int i = doubts.size() - 1; i >= 0; i--) {
      Doubt doubt = doubts.get(i);
      if (doubt.heldNs == 0 && doubt.rail == rail && doubt.epoch < epoch) {
        if (doubt.transfer.mayBreakTheLast(doubt.why)) {
          // As a rail that is lost again is tried less often.
          doubt.heldNs = RETURN_NS << (doubt.transfer.tries(doubt.stripe) - 1);
          doubt.since = UNASKED;
        } else {
          doubts.remove(i);
          doubt.transfer.retryLater(doubt.stripe, doubt.why, Certainty.OVER);
        }
      }
    }
  }

  /** The first epoch of which the peer's endpoint of a rail may stay open; 0 if all may. */
  int least(int rail) {
    int least = 0;
    for (Doubt doubt : doubts) {
      least = doubt.heldNs == 0 && doubt.rail == rail ? Math.max(least, doubt.epoch + 1) : least;
    }
    return least;
  }

  /** Looks for which rails the peer is to be asked, again or at all, a bit each. */
  int look(long now, boolean lost) {
    int due = 0;
    for (int i = doubts.size() - 1; i >= 0; i--) {
      Doubt doubt = doubts.get(i);
      doubt.since = doubt.since == UNASKED ? now : doubt.since;
      long tookNs = now - doubt.since;
      if (doubt.heldNs > 0) {
        if (lost || tookNs >= doubt.heldNs || !doubt.transfer.mayBreakTheLast(doubt.why)) {
          doubts.remove(i);
          doubt.transfer.retryLater(doubt.stripe, doubt.why, Certainty.OVER);
        }
      } else if (lost || tookNs >= BOUND_NS) {
        doubts.remove(i);
        doubt.transfer.giveUp(doubt.stripe, doubt.why);
      } else if (doubt.askedAt == UNASKED || now - doubt.askedAt >= AGAIN_NS) {
        doubt.askedAt = now;
        due |= 1 << doubt.rail;
      }
    }
    return due;
  }

  /** The peer is not waited for any more: nothing of what is in doubt is repeated. */
  void giveUp() {
    while (!doubts.isEmpty()) {
      Doubt doubt = doubts.removeLast();
      doubt.transfer.giveUp(doubt.stripe, doubt.why);
    }
  }
}
