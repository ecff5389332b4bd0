package org.jofi.simulated.network;

import java.util.ArrayList;
import java.util.List;
import org.jofi.simulated.contract.ContractViolationException;
import org.jofi.simulated.contract.Rule;
import org.jofi.simulated.contract.Strictness;
import org.jofi.simulated.trace.History;
import org.jspecify.annotations.Nullable;

/**
 * Reacts to broken contracts: with an exception, or as the real provider does, depending on {@link
 * Strictness}. Any thread.
 */
public final class Contracts {
  private static final int KEPT = 100;

  private final Strictness strictness;
  private final long[] counts = new long[Rule.values().length];
  private final List<ContractViolationException> kept = new ArrayList<>();
  private volatile @Nullable ContractViolationException late;

  Contracts(Strictness strictness) {
    this.strictness = strictness;
  }

  /**
   * A posting call broke a contract.
   *
   * @return {@code -errno}, unless violations throw
   */
  public int refuse(Rule rule, int errno, String call, History history, String detail) {
    ContractViolationException violation = record(rule, call, history, detail);
    if (strictness == Strictness.THROW) {
      throw violation;
    }
    return -errno;
  }

  /** The exception for a call that reports errors by throwing and broke a contract. */
  public RuntimeException misuse(
      Rule rule, String call, History history, String detail, RuntimeException asProvider) {
    ContractViolationException violation = record(rule, call, history, detail);
    return strictness == Strictness.THROW ? violation : asProvider;
  }

  /**
   * Records a broken contract that was found outside of any call. The next step or poll throws it.
   */
  public synchronized void discover(Rule rule, String call, History history, String detail) {
    ContractViolationException violation = record(rule, call, history, detail);
    if (strictness == Strictness.THROW && late == null) {
      late = violation;
    }
  }

  /** Throws the violation that was recorded since the last call, if any. */
  public void throwDiscovered() {
    if (late != null) {
      throwLate();
    }
  }

  private synchronized void throwLate() {
    ContractViolationException violation = late;
    if (violation != null) {
      late = null;
      throw violation;
    }
  }

  /** Whether violations throw. */
  public boolean throwing() {
    return strictness == Strictness.THROW;
  }

  /** The first violations, oldest first. */
  public synchronized List<ContractViolationException> violations() {
    return List.copyOf(kept);
  }

  /** How many violations there were. */
  synchronized long count() {
    long sum = 0;
    for (long count : counts) {
      sum += count;
    }
    return sum;
  }

  private synchronized ContractViolationException record(
      Rule rule, String call, History history, String detail) {
    counts[rule.number()]++;
    ContractViolationException violation =
        new ContractViolationException(rule, call, detail, history.describe());
    if (kept.size() < KEPT) {
      kept.add(violation);
    }
    return violation;
  }
}
