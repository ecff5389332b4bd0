package org.jofi.rdma.message;

import java.util.Arrays;
import org.jofi.rdma.wire.ProtocolLimits;

/**
 * Counts the data operations of a connection per data rail, in the order of posting. An operation
 * that waits for earlier ones on its rail sees by it that it comes nearer to its turn. Later
 * operations on the same rail do not count, so that their completions cannot extend its time limit
 * for ever.
 */
final class DataProgress {
  private final long[] posted = new long[ProtocolLimits.MAX_RAILS];
  private final long[] completed = new long[ProtocolLimits.MAX_RAILS];

  /** When something is due: after so many operations on each rail. */
  static final class Turn {
    private final long[] after = new long[ProtocolLimits.MAX_RAILS];

    /** Part of it is not posted yet, so every operation may come before it. */
    void open() {
      Arrays.fill(after, Long.MAX_VALUE);
    }
  }

  /** One more was posted on a rail. */
  void post(int rail) {
    posted[rail]++;
  }

  /** An operation succeeded. Failed operations do not count. */
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
