package org.jofi.simulated.network;

import org.jofi.simulated.stall.SimulationStalledException;

/**
 * Limits how often a participant may poll in one step. So a loop inside a step ends if it waits for
 * something that only other participants can do. For virtual time.
 */
public final class PollBudget {
  private long left = Long.MAX_VALUE;

  /** Called when a step begins. */
  public void begin(long polls) {
    left = polls;
  }

  /** Called for each poll. */
  public void spend() {
    if (--left < 0) {
      left = Long.MAX_VALUE;
      throw new SimulationStalledException(
          "a participant polls in a loop inside one step: nothing that it waits for can arrive"
              + " before the step returns");
    }
  }
}
