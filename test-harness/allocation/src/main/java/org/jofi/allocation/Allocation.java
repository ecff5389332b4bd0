package org.jofi.allocation;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.StringJoiner;

/**
 * Holds tasks to allocating nothing on the Java heap.
 *
 * <p>The JVM counts the bytes of each thread apart, so that what other threads allocate is not in
 * the figure. While its code is loaded, linked and compiled a task may allocate, and the compiler
 * may replace code late, the later the busier the machine is. So a task is run until {@value
 * #IN_A_ROW} runs in a row have allocated nothing, and fails if that does not come. What is
 * allocated in one run of {@value #IN_A_ROW}, or more often, never gets there. The least of several
 * runs would be no answer: it hides what all of them but one allocate.
 */
public final class Allocation {
  /** Runs in a row that must allocate nothing. */
  static final int IN_A_ROW = 20;

  /** Runs after which there is no more hope. */
  static final int MOST_RUNS = 400;

  /** How many of the runs that allocated are told. */
  private static final int TOLD = 20;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Allocation() {}

  /**
   * Runs a task on this thread until it has allocated nothing for {@value #IN_A_ROW} runs in a row.
   *
   * @param task long enough that the compiler has done with it after some hundred runs: some
   *     thousand operations
   * @return how often it ran in all
   * @throws AssertionError if that does not come within {@value #MOST_RUNS} runs: with the last
   *     runs that allocated, and their bytes
   */
  public static int assertNone(Runnable task) {
    if (!THREADS.isThreadAllocatedMemorySupported() || !THREADS.isThreadAllocatedMemoryEnabled()) {
      throw new AssertionError("this JVM does not count what a thread allocates");
    }
    long[] bytes = new long[MOST_RUNS];
    int inARow = 0;
    for (int run = 0; run < MOST_RUNS; run++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      task.run();
      bytes[run] = THREADS.getCurrentThreadAllocatedBytes() - before;
      inARow = bytes[run] == 0 ? inARow + 1 : 0;
      if (inARow == IN_A_ROW) {
        return run + 1;
      }
    }
    throw new AssertionError(
        "never %d runs of %d in a row without allocating; the last that did: %s"
            .formatted(IN_A_ROW, MOST_RUNS, lastThatAllocated(bytes)));
  }

  private static StringJoiner lastThatAllocated(long[] bytes) {
    StringJoiner runs = new StringJoiner(", ");
    int told = 0;
    for (int run = bytes.length - 1; run >= 0 && told < TOLD; run--) {
      if (bytes[run] != 0) {
        runs.add("%d B in run %d".formatted(bytes[run], run + 1));
        told++;
      }
    }
    return runs;
  }
}
