package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.function.Supplier;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;

/**
 * What moves between two nodes while rails between them fall silent. Each request has slots of its
 * own. Memory is written over as soon as its request is over, and looked at later: nothing may land
 * in it any more.
 */
abstract class Flow {
  static final long MOST_BYTES = 64L << 10;
  static final long SLOTS = 24;

  /** A rail is found within 6 s, and closes; several may one after the other. */
  private static final long LONGEST_WAIT = 40_000_000_000L;

  private static final byte OVER = 0x55;

  final Pair pair;
  private final boolean mayFail;
  private final boolean[] over = new boolean[(int) SLOTS];
  private int started;
  private boolean failed;
  private long lastNs;

  /**
   * @param mayFail whether requests may fail, because a NIC dies with what its queue held
   */
  Flow(Pair pair, boolean mayFail) {
    this.pair = pair;
    this.mayFail = mayFail;
  }

  /** Whether nothing is under way. */
  abstract boolean isOver();

  /** Whether there is room for as much as starts at once. */
  abstract boolean hasRoom();

  /** Starts requests, with slots of {@link #next}. */
  abstract void begin(Random random);

  /** Looks what is over. */
  abstract void look();

  /** Where something lands in a slot. */
  abstract MemorySegment target(int number, long bytes);

  final int started() {
    return started;
  }

  final boolean hasFailed() {
    return failed;
  }

  final boolean mayStart() {
    return !failed && hasRoom();
  }

  final void start(Random random, long now) {
    lastNs = isOver() ? now : lastNs;
    begin(random);
  }

  final void test(long now) {
    int before = underWay();
    look();
    if (underWay() != before || isOver()) {
      lastNs = now;
    }
    assertTrue(now - lastNs < LONGEST_WAIT, () -> pair + ": nothing is over any more: " + this);
  }

  abstract int underWay();

  static long at(int number) {
    return number % SLOTS * MOST_BYTES;
  }

  static MemorySegment slot(MemorySegment memory, int number, long bytes) {
    return memory.asSlice(at(number), bytes);
  }

  /** The next number, whose slot is written over no more. */
  final int next() {
    over[(int) (started % SLOTS)] = false;
    return started++;
  }

  /** What came is right; from now on nothing may come. */
  final void verify(int number, MemorySegment sent) {
    if (!failed) {
      MemorySegment slot = target(number, MOST_BYTES);
      assertEquals(
          -1, sent.mismatch(slot.asSlice(0, sent.byteSize())), () -> pair + ": number " + number);
      slot.fill(OVER);
      over[(int) (number % SLOTS)] = true;
    }
  }

  /**
   * Whether a request is over.
   *
   * @param bytes what it moves in all
   */
  final boolean isDone(Connection connection, long id, long bytes, Supplier<String> what) {
    long result = connection.test(id);
    failed |= mayFail && FailureCause.isFailure(result);
    if (failed && result != Result.IN_PROGRESS) {
      return true;
    }
    assertTrue(
        result == bytes || result == Result.IN_PROGRESS,
        () -> "%s: %s says %d: %s".formatted(pair, what.get(), result, connection.failure(id)));
    return result != Result.IN_PROGRESS;
  }

  final long taken(long id, String what) {
    assertTrue(id > 0, () -> "%s: %s gives %d".formatted(pair, what, id));
    return id;
  }

  /** Nothing landed in memory whose requests were over. */
  final void checkPoison() {
    for (int slot = 0; slot < SLOTS; slot++) {
      if (over[slot]) {
        MemorySegment memory = target(slot, MOST_BYTES);
        for (long at = 0; at < MOST_BYTES; at++) {
          if (memory.get(ValueLayout.JAVA_BYTE, at) != OVER) {
            throw new AssertionError("%s: slot %d, byte %d landed late".formatted(pair, slot, at));
          }
        }
      }
    }
  }

  @Override
  public String toString() {
    return "%d started, %d under way".formatted(started, underWay());
  }
}
