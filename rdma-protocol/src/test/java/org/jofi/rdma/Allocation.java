package org.jofi.rdma;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** What this thread allocates. */
public final class Allocation {
  private Allocation() {}

  /** Bytes that a task allocates once it is compiled: the least of 20 runs. */
  public static long leastBytes(Runnable task) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int run = 0; run < 20; run++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      task.run();
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    return least;
  }
}
