package org.jofi.simulated.completion;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A ring of completions. The network adds them under its lock, and the one thread that polls takes
 * them without the lock.
 */
public final class CompletionRing {
  private static final VarHandle HEAD;
  private static final VarHandle TAIL;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      HEAD = lookup.findVarHandle(CompletionRing.class, "head", long.class);
      TAIL = lookup.findVarHandle(CompletionRing.class, "tail", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final int FIELDS = 6;
  private static final int CONTEXT = 0;
  private static final int FLAGS = 1;
  private static final int LENGTH = 2;
  private static final int DATA = 3;
  private static final int ERRNOS = 4;
  private static final int OVERFLOW = 5;

  private final long[] entries;
  private final int mask;
  private volatile long head;
  private volatile long tail;

  /** A ring for at least this many. */
  public CompletionRing(int capacity) {
    int size = Integer.highestOneBit(Math.max(2, capacity) * 2 - 1);
    entries = new long[size * FIELDS];
    mask = size - 1;
  }

  /** How many completions are in the ring. */
  public int size() {
    return (int) ((long) TAIL.getAcquire(this) - (long) HEAD.getAcquire(this));
  }

  /** Adds a completion. The caller has to know that there is room. */
  public void add(
      int context,
      long flags,
      long length,
      long data,
      int errno,
      int providerErrno,
      long overflow) {
    long at = tail;
    if (at - head > mask) {
      throw new AssertionError("completion ring overrun: room was not checked");
    }
    int base = (int) (at & mask) * FIELDS;
    entries[base + CONTEXT] = context;
    entries[base + FLAGS] = flags;
    entries[base + LENGTH] = length;
    entries[base + DATA] = data;
    entries[base + ERRNOS] = (long) errno << 32 | (providerErrno & 0xFFFF_FFFFL);
    entries[base + OVERFLOW] = overflow;
    TAIL.setRelease(this, at + 1);
  }

  /** Moves the oldest completion to {@code into}; returns false if there is none. */
  public boolean take(SimulatedCompletion into) {
    long at = head;
    if (at == (long) TAIL.getAcquire(this)) {
      return false;
    }
    int base = (int) (at & mask) * FIELDS;
    into.context = (int) entries[base + CONTEXT];
    into.flags = entries[base + FLAGS];
    into.length = entries[base + LENGTH];
    into.data = entries[base + DATA];
    into.errno = (int) (entries[base + ERRNOS] >>> 32);
    into.providerErrno = (int) entries[base + ERRNOS];
    into.overflow = entries[base + OVERFLOW];
    HEAD.setRelease(this, at + 1);
    return true;
  }
}
