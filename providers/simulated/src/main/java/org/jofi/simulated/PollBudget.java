package org.jofi.simulated;

/**
 * How often a participant may poll in one step, so that a loop inside a step that waits for what
 * only other participants can bring ends. For virtual time.
 */
final class PollBudget {
  private long left = Long.MAX_VALUE;

  /** A step begins. */
  void begin(long polls) {
    left = polls;
  }

  /** One poll. */
  void spend() {
    if (--left < 0) {
      left = Long.MAX_VALUE;
      throw new SimulationStalledException(
          "a participant polls in a loop inside one step: nothing that it waits for can arrive"
              + " before the step returns");
    }
  }
}
