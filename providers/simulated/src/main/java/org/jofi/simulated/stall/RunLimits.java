package org.jofi.simulated.stall;

import java.time.Duration;

/**
 * When a run counts as stuck.
 *
 * @param idle longest virtual time in which no participant does anything and nothing completes
 * @param barrenRounds largest number of rounds in which participants are busy and nothing completes
 * @param pollsPerStep largest number of polls in one step
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
