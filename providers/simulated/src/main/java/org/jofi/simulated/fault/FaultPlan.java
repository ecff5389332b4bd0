package org.jofi.simulated.fault;

import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/** The faults of a run and their probabilities. Immutable. */
public final class FaultPlan {
  private static final FaultPlan NONE = new FaultPlan(Map.of());

  private final Map<Fault, Double> probabilities;

  private FaultPlan(Map<Fault, Double> probabilities) {
    EnumMap<Fault, Double> copy = new EnumMap<>(Fault.class);
    copy.putAll(probabilities);
    this.probabilities = Collections.unmodifiableMap(copy);
  }

  /** No fault at all. */
  public static FaultPlan none() {
    return NONE;
  }

  /** All survivable faults, with their usual probabilities. */
  public static FaultPlan survivable() {
    return NONE.withAll(Fault.of(Fault.Kind.SURVIVABLE));
  }

  /** All survivable and reported faults, with their usual probabilities. */
  public static FaultPlan all() {
    return survivable().withAll(Fault.of(Fault.Kind.REPORTED));
  }

  /**
   * Reads a plan: {@code none}, {@code survivable}, {@code all}, or a list of those and of faults
   * with or without a probability, such as {@code survivable,dead-rail,eagain=0.2}.
   *
   * @throws IllegalArgumentException if it is none of these; the message lists what there is
   */
  public static FaultPlan parse(String text) {
    FaultPlan plan = NONE;
    for (String part : text.split(",", -1)) {
      String item = part.strip();
      plan =
          switch (item) {
            case "none" -> NONE;
            case "survivable" -> plan.withAll(Fault.of(Fault.Kind.SURVIVABLE));
            case "all" ->
                plan.withAll(Fault.of(Fault.Kind.SURVIVABLE))
                    .withAll(Fault.of(Fault.Kind.REPORTED));
            default -> plan.withItem(item);
          };
    }
    return plan;
  }

  /** This plan, with a fault at its usual probability. */
  public FaultPlan with(Fault fault) {
    return with(fault, fault.usualProbability());
  }

  /**
   * This plan, with a fault at the given probability; 0 removes it.
   *
   * @throws IllegalArgumentException if the probability is not between 0 and 1
   */
  public FaultPlan with(Fault fault, double probability) {
    if (!(probability >= 0 && probability <= 1)) {
      throw new IllegalArgumentException(
          "probability of %s must be 0 to 1, is %s".formatted(fault.option(), probability));
    }
    EnumMap<Fault, Double> more = new EnumMap<>(Fault.class);
    more.putAll(probabilities);
    if (probability == 0) {
      more.remove(fault);
    } else {
      more.put(fault, probability);
    }
    return new FaultPlan(more);
  }

  /** The probability of a fault per draw: 0 to 1. */
  public double probability(Fault fault) {
    return probabilities.getOrDefault(fault, 0.0);
  }

  /** Whether a fault can happen. */
  public boolean has(Fault fault) {
    return probabilities.containsKey(fault);
  }

  /** The plan in the form that {@link #parse} reads. */
  @Override
  public String toString() {
    if (probabilities.isEmpty()) {
      return "none";
    }
    StringJoiner items = new StringJoiner(",");
    probabilities.forEach(
        (fault, probability) ->
            items.add(
                probability == fault.usualProbability()
                    ? fault.option()
                    : fault.option() + "=" + probability));
    return items.toString();
  }

  private FaultPlan withAll(List<Fault> faults) {
    FaultPlan plan = this;
    for (Fault fault : faults) {
      plan = plan.with(fault);
    }
    return plan;
  }

  private FaultPlan withItem(String item) {
    int equals = item.indexOf('=');
    Fault fault = faultNamed(equals < 0 ? item : item.substring(0, equals));
    if (equals < 0) {
      return with(fault);
    }
    String number = item.substring(equals + 1);
    try {
      return with(fault, Double.parseDouble(number));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "probability of %s is no number: '%s'".formatted(fault.option(), number), e);
    }
  }

  private static Fault faultNamed(String name) {
    for (Fault fault : Fault.values()) {
      if (fault.option().equals(name)) {
        return fault;
      }
    }
    throw new IllegalArgumentException(
        "no fault named '%s'; there are none, survivable, all, %s"
            .formatted(
                name,
                String.join(
                    ", ", java.util.Arrays.stream(Fault.values()).map(Fault::option).toList())));
  }
}
