package org.jofi.simulated.trace;

/**
 * A hash of everything that happened, and the last lines as text. Memory addresses are not
 * included, so that two runs of a seed have the same hash, even in two processes. Used under the
 * network's lock.
 */
public final class Trace {
  private static final int KEPT = 64;
  private static final TraceKind[] KINDS = TraceKind.values();

  private final Clock clock;
  private final long[] last = new long[KEPT * 5];
  private long hash = 0xCBF29CE484222325L;
  private long count;

  public Trace(Clock clock) {
    this.clock = clock;
  }

  /** Adds a line. */
  public void record(TraceKind kind, long a, long b, long c) {
    long now = clock.isVirtual() ? clock.nanoTime() : 0;
    int at = (int) (count++ % KEPT) * 5;
    last[at] = now;
    last[at + 1] = kind.number();
    last[at + 2] = a;
    last[at + 3] = b;
    last[at + 4] = c;
    long h = mix(hash ^ now);
    h = mix(h + kind.number() + 31 * a);
    h = mix(h ^ b);
    hash = mix(h + c);
  }

  /** The hash of all lines so far. */
  public long hash() {
    return hash;
  }

  /** How many lines there were. */
  long count() {
    return count;
  }

  /** The last lines, oldest first. */
  public void describe(StringBuilder text) {
    for (long i = Math.max(0, count - KEPT); i < count; i++) {
      int at = (int) (i % KEPT) * 5;
      text.append("  ")
          .append(last[at])
          .append(" ns ")
          .append(KINDS[(int) last[at + 1]])
          .append(' ')
          .append(last[at + 2])
          .append(' ')
          .append(last[at + 3])
          .append(' ')
          .append(last[at + 4])
          .append('\n');
    }
  }

  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
