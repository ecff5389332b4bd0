package org.jofi.allocation;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Holds tasks to allocating nothing on the Java heap.
 *
 * <p>The JVM counts the bytes of each thread apart, so that what other threads allocate is not in
 * the figure. While its code is loaded, linked and compiled a task may allocate, and the compiler
 * may replace code late, the later the busier the machine is. So a task is run until {@value
 * #IN_A_ROW} runs in a row have allocated nothing, and fails if that does not come, however much
 * processor time the task had. What is allocated in one run of {@value #IN_A_ROW}, or more often,
 * never gets there. The least of several runs would be no answer: it hides what all of them but one
 * allocate.
 */
public final class Allocation {
  /** Runs in a row that must allocate nothing. */
  static final int IN_A_ROW = 20;

  /** Runs after which there is no more hope, if they took long enough. */
  static final int MOST_RUNS = 400;

  /**
   * Processor time of the task's thread, in ns, within which the compiler gets its turn: its
   * threads have as much of a busy machine as this one.
   */
  private static final long LONG_ENOUGH = 20_000_000_000L;

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
   * @throws AssertionError if that does not come within {@value #MOST_RUNS} runs, or more if they
   *     are short: with the last runs that allocated, and their bytes
   */
  public static int assertNone(Runnable task) {
    return assertNone(task, LONG_ENOUGH);
  }

  /**
   * The same, with another bound.
   *
   * @param longEnough how much processor time it has at the least before it fails, in ns
   */
  static int assertNone(Runnable task, long longEnough) {
    if (!THREADS.isThreadAllocatedMemorySupported() || !THREADS.isThreadAllocatedMemoryEnabled()) {
      throw new AssertionError("this JVM does not count what a thread allocates");
    }
    Deque<String> allocated = new ArrayDeque<>();
    long end = THREADS.getCurrentThreadCpuTime() + longEnough;
    int run = 0;
    int inARow = 0;
    while (run < MOST_RUNS || THREADS.getCurrentThreadCpuTime() - end < 0) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      task.run();
      long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
      run++;
      inARow = bytes == 0 ? inARow + 1 : 0;
      if (inARow == IN_A_ROW) {
        return run;
      }
      if (bytes != 0) {
        allocated.addFirst("%d B in run %d".formatted(bytes, run));
        if (allocated.size() > TOLD) {
          allocated.removeLast();
        }
      }
    }
    throw new AssertionError(
        "never %d runs of %d in a row without allocating; the last that did: %s"
            .formatted(IN_A_ROW, run, String.join(", ", allocated)));
  }
}
