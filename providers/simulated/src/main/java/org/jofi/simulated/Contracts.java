package org.jofi.simulated;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answers broken contracts, by choice with an exception or as the real provider does. Any thread.
 */
final class Contracts {
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
   * @return {@code -errno}, where that is the choice
   */
  int refuse(Rule rule, int errno, String call, History history, String detail) {
    ContractViolationException violation = record(rule, call, history, detail);
    if (strictness == Strictness.THROW) {
      throw violation;
    }
    return -errno;
  }

  /** A throwing call broke a contract: what it throws. */
  RuntimeException misuse(
      Rule rule, String call, History history, String detail, RuntimeException asProvider) {
    ContractViolationException violation = record(rule, call, history, detail);
    return strictness == Strictness.THROW ? violation : asProvider;
  }

  /**
   * A contract turned out to be broken when no call was under way: the next step, or poll, throws
   * it.
   */
  synchronized void discover(Rule rule, String call, History history, String detail) {
    ContractViolationException violation = record(rule, call, history, detail);
    if (strictness == Strictness.THROW && late == null) {
      late = violation;
    }
  }

  /** Throws what was discovered since the last call. */
  void throwDiscovered() {
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
  boolean throwing() {
    return strictness == Strictness.THROW;
  }

  /** The first violations, oldest first. */
  synchronized List<ContractViolationException> violations() {
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
