package org.jofi.rdma.driver;

import java.time.Duration;
import java.util.Arrays;
import java.util.function.IntFunction;
import org.jofi.transport.RailChange;
import org.jofi.transport.RailStatus;

/**
 * Notices which rails of a role to a peer came to be used, or not to be used any more. Used with
 * the endpoint's lock held.
 */
final class RailStates {
  private final PeerRails rails;
  private final RailChange.Role role;
  private final IntFunction<String> label;
  private final RailChanges changes;
  private final RailStatus.State[] states;
  private final long[] since;
  private long looked = -1;

  /**
   * @param label what errors call a rail to the peer
   * @param changes is told
   */
  RailStates(
      PeerRails rails, RailChange.Role role, IntFunction<String> label, RailChanges changes) {
    this.rails = rails;
    this.role = role;
    this.label = label;
    this.changes = changes;
    states = new RailStatus.State[rails.count()];
    Arrays.fill(states, RailStatus.State.UP);
    since = new long[rails.count()];
  }

  /**
   * Compares with what was seen last.
   *
   * @param now time in which this side looked, in nanoseconds
   */
  void look(long now) {
    if (looked < 0) {
      Arrays.fill(since, now);
    }
    looked = now;
    int changed = 0;
    for (int rail = 0; rail < states.length; rail++) {
      RailStatus.State state = rails.state(rail);
      if (state != states[rail]) {
        states[rail] = state;
        since[rail] = now;
        changed |= 1 << rail;
      }
    }
    for (; changed != 0; changed &= changed - 1) {
      changes.add(change(Integer.numberOfTrailingZeros(changed)));
    }
  }

  private RailChange change(int rail) {
    int up = 0;
    for (RailStatus.State state : states) {
      up += state == RailStatus.State.UP ? 1 : 0;
    }
    return new RailChange(
        label.apply(rail),
        role,
        rail,
        rails.port(rail).nic(),
        states[rail],
        rails.cause(rail),
        up,
        states.length);
  }

  /** For how long a rail has been as it is; to one look. */
  Duration age(int rail) {
    return looked < 0 ? Duration.ZERO : Duration.ofNanos(looked - since[rail]);
  }
}
