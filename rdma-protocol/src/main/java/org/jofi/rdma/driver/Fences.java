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
  /** No fence. */
  static final long NONE = -1;

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
    final int address;
    final List<Doubt> doubts = new ArrayList<>();
    long since = UNASKED;
    long askedAt = UNASKED;
    boolean due = true;

    Fence(int rail, int address) {
      this.rail = rail;
      this.address = address;
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
   * @param address the {@link PeerRails#address address} of that endpoint, as its hash
   */
  void await(DataTransfer transfer, int stripe, int rail, int address, Failure why) {
    Fence fence = find(rail, address);
    if (fence == null) {
      fence = new Fence(rail, address);
      asked.add(fence);
    }
    fence.doubts.add(new Doubt(transfer, stripe, why));
  }

  private @Nullable Fence find(int rail, int address) {
    for (int i = 0; i < asked.size(); i++) {
      Fence fence = asked.get(i);
      if (fence.rail == rail && fence.address == address) {
        return fence;
      }
    }
    return null;
  }

  /** Whether nothing is in doubt, or held. */
  boolean isEmpty() {
    return asked.isEmpty() && held.isEmpty();
  }

  /** The peer closed that endpoint: nothing more of what went there will happen. */
  void fenced(int rail, int address) {
    Fence fence = find(rail, address);
    if (fence != null) {
      asked.remove(fence);
      for (Doubt doubt : fence.doubts) {
        if (doubt.transfer.mayBreakTheLast(doubt.why)) {
          held.add(new Held(doubt));
        } else {
          doubt.transfer.over(doubt.stripe, doubt.why);
        }
      }
    }
  }

  /**
   * Looks which are to be asked for, again or at all.
   *
   * @param lost whether the peer cannot be reached at all, so that nothing is repeated anyway
   */
  void look(long now, boolean lost) {
    lookAtHeld(now, lost);
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
        fence.due = true;
      }
    }
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

  /**
   * A fence that is to be asked for now: its address, and above that its rail; or {@link #NONE}.
   */
  long takeDue() {
    for (int i = 0; i < asked.size(); i++) {
      Fence fence = asked.get(i);
      if (fence.due) {
        fence.due = false;
        return (long) fence.rail << Integer.SIZE | Integer.toUnsignedLong(fence.address);
      }
    }
    return NONE;
  }
}
