package org.jofi.rdma.driver;

/**
 * Counts the data operations of a connection per data rail, in the order of posting. An operation
 * that waits for earlier ones on its rail can tell from this count that its turn comes nearer.
 * Later operations on the same rail do not count, so that their completions cannot extend its time
 * limit for ever.
 */
final class DataProgress {
  private final long[] posted;
  private final long[] completed;

  /**
   * @param rails data rails to the peer
   */
  DataProgress(int rails) {
    posted = new long[rails];
    completed = new long[rails];
  }

  /** When something is due: after so many operations on each rail. */
  final class Turn {
    private final long[] after = new long[posted.length];
    private boolean open;

    /** Part of it is not posted yet, so every operation may come before it. */
    void open() {
      open = true;
    }

    /** All of it is posted: only what was posted until now is before it. */
    void set() {
      open = false;
      for (int rail = 0; rail < after.length; rail++) {
        after[rail] = posted[rail];
      }
    }

    /** How many operations before it succeeded. */
    long before() {
      long sum = 0;
      for (int rail = 0; rail < after.length; rail++) {
        sum += open ? completed[rail] : Math.min(completed[rail], after[rail]);
      }
      return sum;
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
}
