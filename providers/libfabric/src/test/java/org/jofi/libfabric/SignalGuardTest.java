package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/** A provider's signal handlers do not stay. */
class SignalGuardTest {
  private static final int SIGUSR2 = 12;

  @Test
  void openingAnEndpointOfShmLeavesTheHandlersAlone() {
    long[] before = handlers();
    try (Loopback loopback = new Loopback("shm")) {
      assertArrayEquals(before, handlers(), loopback.endpoint::label);
    }
    assertArrayEquals(before, handlers());
  }

  @Test
  void whatAGuardedCallInstallsIsTakenOutAgain() {
    long original = handler(SIGUSR2);
    long inside =
        SignalGuard.guard(
            () -> {
              try (Arena arena = Arena.ofConfined()) {
                MemorySegment ignore = arena.allocate(256, 16);
                ignore.set(ValueLayout.JAVA_LONG, 0, 1);
                LibC.sigaction(SIGUSR2, ignore, MemorySegment.NULL);
                return handler(SIGUSR2);
              }
            });
    assertNotEquals(original, inside);
    assertEquals(original, handler(SIGUSR2));
  }

  private static long[] handlers() {
    long[] all = new long[31];
    for (int signal = 1; signal <= 31; signal++) {
      all[signal - 1] = handler(signal);
    }
    return all;
  }

  private static long handler(int signal) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment action = arena.allocate(256, 16);
      LibC.sigaction(signal, MemorySegment.NULL, action);
      return action.get(ValueLayout.JAVA_LONG, 0);
    }
  }
}
