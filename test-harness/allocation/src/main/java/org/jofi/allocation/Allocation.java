package org.jofi.allocation;

import com.sun.management.ThreadMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * Holds tasks to allocating nothing on the Java heap.
 *
 * <p>The JVM counts the bytes of each thread apart, so that what other threads allocate is not in
 * the figure. What a task allocates only while its code is loaded, linked and compiled is left out
 * by a warm-up whose length does not depend on what was counted. After it a run allocates nothing,
 * with one exception: when the compiler replaces code late, the thread that ran it may be charged
 * with some hundred bytes. That was seen in up to 4 of 20 runs of tasks that run much code, on a
 * machine that did much else. So a few of the runs that are counted may have allocated a little
 * together, which is printed. The least of several runs would be no answer: it hides what all of
 * them but one allocate.
 */
public final class Allocation {
  /** Runs that are not counted. */
  static final int WARM_UP = 20;

  /** More of them while the compiler is still at work, as on a machine that does other things. */
  static final int MORE_WARM_UP = 80;

  /** Runs that are counted. */
  static final int COUNTED = 20;

  /** How many of them may have allocated. */
  static final int LATE_RUNS = 5;

  /** What these may have allocated together. */
  static final long LATE_BYTES = 2048;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** None in a JVM that only interprets. */
  private static final @Nullable CompilationMXBean COMPILER =
      ManagementFactory.getCompilationMXBean();

  private Allocation() {}

  /**
   * Runs a task on this thread, first to warm it up, and then to count.
   *
   * @param task long enough that {@value #WARM_UP} runs of it are compiled: some thousand
   *     operations
   * @return how often it ran in all
   * @throws AssertionError if more than {@value #LATE_RUNS} counted runs allocated, or more than
   *     {@value #LATE_BYTES} bytes together: with each such run, and its bytes
   */
  public static int assertNone(Runnable task) {
    if (!THREADS.isThreadAllocatedMemorySupported() || !THREADS.isThreadAllocatedMemoryEnabled()) {
      throw new AssertionError("this JVM does not count what a thread allocates");
    }
    int warmUp = warmUp(task);
    long[] bytes = new long[COUNTED];
    for (int run = 0; run < COUNTED; run++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      task.run();
      bytes[run] = THREADS.getCurrentThreadAllocatedBytes() - before;
    }
    demandNone(bytes);
    return warmUp + COUNTED;
  }

  private static int warmUp(Runnable task) {
    int runs = 0;
    long before;
    do {
      before = compiling();
      task.run();
      runs++;
    } while (runs < WARM_UP || (compiling() != before && runs < WARM_UP + MORE_WARM_UP));
    return runs;
  }

  /** How long the compiler has been at work in all. */
  private static long compiling() {
    return COMPILER == null ? 0 : COMPILER.getTotalCompilationTime();
  }

  static void demandNone(long[] bytes) {
    StringJoiner guilty = new StringJoiner(", ");
    int runs = 0;
    long sum = 0;
    for (int run = 0; run < bytes.length; run++) {
      if (bytes[run] != 0) {
        guilty.add("%d B in run %d".formatted(bytes[run], run + 1));
        runs++;
        sum += bytes[run];
      }
    }
    if (runs == 0) {
      return;
    }
    String text = "allocates after the warm-up: %s of %d".formatted(guilty, bytes.length);
    if (runs > LATE_RUNS || sum > LATE_BYTES) {
      throw new AssertionError(text);
    }
    System.out.println(text + ", which is taken for the compiler's");
  }
}
