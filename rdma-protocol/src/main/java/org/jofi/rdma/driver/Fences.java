package org.jofi.rdma.driver;

import java.util.ArrayList;
import java.util.List;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * What went to one peer over rails that closed, or failed, before it was done: until the peer has
 * closed its endpoint of that rail, too, it may land. So nothing of it is repeated, and its memory
 * at the peer is not let go of, before the peer says that it did. Used with the endpoint's lock
 * held.
 */
final class Fences {
  /** After so long the peer counts as one that does not answer: nothing is repeated then. */
  private static final long BOUND_NS = 10_000_000_000L;

  /** How often a fence is asked for. */
  private static final long AGAIN_NS = 200_000_000L;

  /** A rail whose link works is in use again by then, if it was lost for the first time. */
  private static final long RETURN_NS = 2_000_000_000L;

  private static final long UNASKED = Long.MIN_VALUE;

  private final List<Fence> asked = new ArrayList<>(0);
  private final List<Held> held = new ArrayList<>(0);

  /** What may land until a peer's endpoint is closed. */
  private static final class Fence {
    final int rail;
    final int epoch;
    final List<Doubt> doubts = new ArrayList<>();
    long since = UNASKED;
    long askedAt = UNASKED;

    Fence(int rail, int epoch) {
      this.rail = rail;
      this.epoch = epoch;
    }
  }

  private record Doubt(DataTransfer transfer, int stripe, Failure why) {}

  /** What is repeated when two rails are in use, or the lost one stays away. */
  private static final class Held {
    final Doubt doubt;
    final long mostNs;
    long since = UNASKED;

    Held(Doubt doubt) {
      this.doubt = doubt;
      // As a rail that is lost again is tried less often.
      mostNs = RETURN_NS << (doubt.transfer.tries(doubt.stripe) - 1);
    }
  }

  /**
   * A stripe may land until the peer's endpoint of that rail is closed; it is told of that.
   *
   * @param epoch of that endpoint
   */
  void await(DataTransfer transfer, int stripe, int rail, int epoch, Failure why) {
    Fence fence = find(rail, epoch);
    if (fence == null) {
      fence = new Fence(rail, epoch);
      asked.add(fence);
    }
    fence.doubts.add(new Doubt(transfer, stripe, why));
  }

  private @Nullable Fence find(int rail, int epoch) {
    for (int i = 0; i < asked.size(); i++) {
      Fence fence = asked.get(i);
      if (fence.rail == rail && fence.epoch == epoch) {
        return fence;
      }
    }
    return null;
  }

  /** Whether nothing is in doubt, or held. */
  boolean isEmpty() {
    return asked.isEmpty() && held.isEmpty();
  }

  /** The peer closed its endpoints before that one: nothing more of what went there will happen. */
  void passed(int rail, int epoch) {
    for (int i = asked.size() - 1; i >= 0; i--) {
      Fence fence = asked.get(i);
      if (fence.rail == rail && fence.epoch < epoch) {
        asked.remove(i);
        pass(fence);
      }
    }
  }

  private void pass(Fence fence) {
    for (Doubt doubt : fence.doubts) {
      if (doubt.transfer.mayBreakTheLast(doubt.why)) {
        held.add(new Held(doubt));
      } else {
        doubt.transfer.over(doubt.stripe, doubt.why);
      }
    }
  }

  /** The first epoch of which the peer's endpoint of a rail may stay open; 0 if all may. */
  int least(int rail) {
    int least = 0;
    for (int i = 0; i < asked.size(); i++) {
      Fence fence = asked.get(i);
      least = fence.rail == rail ? Math.max(least, fence.epoch + 1) : least;
    }
    return least;
  }

  /**
   * Looks for which the peer is to be asked, again or at all.
   *
   * @param lost whether the peer cannot be reached at all, so that nothing is repeated anyway
   * @return their rails, a bit each
   */
  int look(long now, boolean lost) {
    lookAtHeld(now, lost);
    int due = 0;
    for (int i = asked.size() - 1; i >= 0; i--) {
      Fence fence = asked.get(i);
      if (fence.since == UNASKED) {
        fence.since = now;
      }
      if (lost || now - fence.since >= BOUND_NS) {
        asked.remove(i);
        giveUp(fence);
      } else if (fence.askedAt == UNASKED || now - fence.askedAt >= AGAIN_NS) {
        fence.askedAt = now;
        due |= 1 << fence.rail;
      }
    }
    return due;
  }

  private void lookAtHeld(long now, boolean lost) {
    for (int i = held.size() - 1; i >= 0; i--) {
      Held of = held.get(i);
      if (of.since == UNASKED) {
        of.since = now;
      }
      if (lost || now - of.since >= of.mostNs || !of.doubt.transfer.mayBreakTheLast(of.doubt.why)) {
        held.remove(i);
        of.doubt.transfer.over(of.doubt.stripe, of.doubt.why);
      }
    }
  }

  /** The peer is not waited for any more: nothing of what is in doubt is repeated. */
  void giveUp() {
    while (!held.isEmpty()) {
      Doubt doubt = held.removeLast().doubt;
      doubt.transfer.giveUp(doubt.stripe, doubt.why);
    }
    for (Fence fence = asked.isEmpty() ? null : asked.removeLast();
        fence != null;
        fence = asked.isEmpty() ? null : asked.removeLast()) {
      giveUp(fence);
    }
  }

  private static void giveUp(Fence fence) {
    for (Doubt doubt : fence.doubts) {
      doubt.transfer.giveUp(doubt.stripe, doubt.why);
    }
  }
}
