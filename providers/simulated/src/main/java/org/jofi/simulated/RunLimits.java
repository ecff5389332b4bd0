package org.jofi.simulated;

import java.time.Duration;

/**
 * When a run counts as stuck.
 *
 * @param idle virtual time in which no participant did anything and nothing completed
 * @param barrenRounds rounds in which participants were busy and nothing completed
 * @param pollsPerStep polls in one step
 */
public record RunLimits(Duration idle, long barrenRounds, long pollsPerStep) {

  /** A minute, a million rounds, ten million polls. */
  public static final RunLimits USUAL = new RunLimits(Duration.ofMinutes(1), 1_000_000, 10_000_000);

  public RunLimits {
    if (idle.isNegative() || idle.isZero() || barrenRounds < 1 || pollsPerStep < 1) {
      throw new IllegalArgumentException(
          "limits must be above 0: %s, %d rounds, %d polls"
              .formatted(idle, barrenRounds, pollsPerStep));
    }
  }
}
