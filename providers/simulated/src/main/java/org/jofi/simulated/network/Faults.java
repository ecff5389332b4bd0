package org.jofi.simulated.network;

import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.trace.Trace;
import org.jofi.simulated.trace.TraceKind;

/**
 * Draws faults. Each has its own random stream, derived from the seed, so that leaving one out does
 * not change the others. Used under the network's lock.
 */
public final class Faults {
  private static final Fault[] ALL = Fault.values();
  private static final double UNIT = 1L << 53;

  private final SplittableRandom[] streams = new SplittableRandom[ALL.length];
  private final long[] thresholds = new long[ALL.length];
  private final long[] counts = new long[ALL.length];
  private final Trace trace;

  Faults(long seed, FaultPlan plan, Trace trace) {
    this.trace = trace;
    SplittableRandom root = new SplittableRandom(seed ^ 0x632BE59BD9B4E019L);
    for (Fault fault : ALL) {
      int i = fault.number();
      streams[i] = root.split();
      thresholds[i] = (long) (plan.probability(fault) * UNIT);
    }
  }

  /** Draws whether a fault happens now, and counts it if so. */
  public boolean strikes(Fault fault) {
    boolean strikes = threatens(fault);
    if (strikes) {
      count(fault);
    }
    return strikes;
  }

  /**
   * Draws whether a fault happens now, without counting it. If it finds a victim, call {@link
   * #count}.
   */
  public boolean threatens(Fault fault) {
    int i = fault.number();
    long threshold = thresholds[i];
    boolean spent = fault.once() && counts[i] > 0;
    return threshold != 0 && !spent && streams[i].nextLong() >>> 11 < threshold;
  }

  /** A random number from {@code from} to {@code to}, of the fault's stream. */
  public long between(Fault fault, long from, long to) {
    return from + Math.floorMod(streams[fault.number()].nextLong(), to - from + 1);
  }

  /** Counts a fault that happened. */
  public void count(Fault fault) {
    counts[fault.number()]++;
    trace.record(TraceKind.FAULT, fault.number(), counts[fault.number()], 0);
  }

  /** How often each fault happened, including those that never did. */
  public Map<Fault, Long> counts() {
    EnumMap<Fault, Long> map = new EnumMap<>(Fault.class);
    for (Fault fault : ALL) {
      map.put(fault, counts[fault.number()]);
    }
    return map;
  }
}
