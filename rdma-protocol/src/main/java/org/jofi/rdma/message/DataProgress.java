package org.jofi.rdma.message;

import java.util.Arrays;
import org.jofi.rdma.wire.ProtocolLimits;

/**
 * How far this side's data operations of a connection are, per data rail, counted in the order of
 * their posting. What is behind others sees by it that its turn comes nearer; what others complete
 * that were posted later on the same rail tells it nothing, so that nobody waits without end.
 */
final class DataProgress {
  private final long[] posted = new long[ProtocolLimits.MAX_RAILS];
  private final long[] completed = new long[ProtocolLimits.MAX_RAILS];

  /** When something is due: after so many operations on each rail. */
  static final class Turn {
    private final long[] after = new long[ProtocolLimits.MAX_RAILS];

    /** Some of it is not posted yet: everything may be before it. */
    void open() {
      Arrays.fill(after, Long.MAX_VALUE);
    }
  }

  /** One more was posted on a rail. */
  void post(int rail) {
    posted[rail]++;
  }

  /** One succeeded. Those that failed moved nothing on. */
  void complete(int rail) {
    completed[rail]++;
  }

  /** All of something is posted: only what was posted until now is before it. */
  void set(Turn turn) {
    System.arraycopy(posted, 0, turn.after, 0, posted.length);
  }

  /** How many operations before that turn succeeded. */
  long before(Turn turn) {
    long sum = 0;
    for (int rail = 0; rail < completed.length; rail++) {
      sum += Math.min(completed[rail], turn.after[rail]);
    }
    return sum;
  }
}
