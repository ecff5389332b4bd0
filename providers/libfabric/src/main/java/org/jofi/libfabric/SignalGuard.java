package org.jofi.libfabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Supplier;

/**
 * Keeps the JVM's signal handlers in place. The shm provider installs its own for SIGSEGV, SIGBUS,
 * SIGTERM and SIGINT when its first endpoint opens, and psm2 does so when it is loaded. The JVM
 * gets SIGSEGV in normal operation, for null checks and safepoints; shm's handler would then unlink
 * the shared memory that peers still use. So the handlers that a guarded call installs are removed
 * before it returns.
 */
final class SignalGuard {
  private static final int FIRST = 1;
  private static final int LAST = 31;
  private static final int SIGKILL = 9;
  private static final int SIGSTOP = 19;

  /** More than the size of struct sigaction on any Linux. */
  private static final long ACTION_BYTES = 256;

  private SignalGuard() {}

  /** Runs a native call and restores every handler that it replaced. One call at a time. */
  static synchronized <T> T guard(Supplier<T> call) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment before = arena.allocate(ACTION_BYTES * (LAST + 1), 16);
      MemorySegment now = arena.allocate(ACTION_BYTES, 16);
      for (int signal = FIRST; signal <= LAST; signal++) {
        LibC.sigaction(signal, MemorySegment.NULL, slot(before, signal));
      }
      try {
        return call.get();
      } finally {
        for (int signal = FIRST; signal <= LAST; signal++) {
          if (signal == SIGKILL || signal == SIGSTOP) {
            continue;
          }
          LibC.sigaction(signal, MemorySegment.NULL, now);
          if (handler(now) != handler(slot(before, signal))) {
            LibC.sigaction(signal, slot(before, signal), MemorySegment.NULL);
          }
        }
      }
    }
  }

  private static MemorySegment slot(MemorySegment table, int signal) {
    return table.asSlice(signal * ACTION_BYTES, ACTION_BYTES);
  }

  /** The handler is the first field on every Linux that the JVM runs on. */
  private static long handler(MemorySegment action) {
    return action.get(ValueLayout.JAVA_LONG, 0);
  }
}
