package org.jofi.simulated.workload;

import java.util.Objects;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;

/**
 * The options of a workload.
 *
 * @param profile the NICs
 * @param ranks number of programs, each on a host of its own, 1 to 64
 * @param rails number of NICs that each rank uses, 1 to 8
 * @param operations number of posts of each rank, at least 1
 * @param faults the faults to inject
 */
public record WorkloadOptions(
    Profile profile, int ranks, int rails, int operations, FaultPlan faults) {

  private static final int USUAL_OPERATIONS = 60;

  public WorkloadOptions {
    Objects.requireNonNull(profile);
    Objects.requireNonNull(faults);
    requireRange("ranks", ranks, 64);
    requireRange("rails", rails, 8);
    requireRange("operations", operations, Integer.MAX_VALUE);
  }

  /** Two ranks with two rails each, 60 operations each, with all faults. */
  public static WorkloadOptions of(Profile profile) {
    return new WorkloadOptions(profile, 2, 2, USUAL_OPERATIONS, FaultPlan.all());
  }

  /** These options, with other faults. */
  public WorkloadOptions withFaults(FaultPlan plan) {
    return new WorkloadOptions(profile, ranks, rails, operations, plan);
  }

  /** These options, with other numbers of ranks and rails. */
  public WorkloadOptions withSize(int rankCount, int railCount) {
    return new WorkloadOptions(profile, rankCount, railCount, operations, faults);
  }

  /** These options, with another number of posts per rank. */
  public WorkloadOptions withOperations(int count) {
    return new WorkloadOptions(profile, ranks, rails, count, faults);
  }

  /** The command line that repeats a seed. */
  public String reproduce(long seed) {
    return "./jofi simulate --profile %s --ranks %d --rails %d --operations %d --seed %d --runs 1 --faults %s"
        .formatted(profile.name(), ranks, rails, operations, seed, faults);
  }

  private static void requireRange(String what, int value, int most) {
    if (value < 1 || value > most) {
      throw new IllegalArgumentException("%s must be 1 to %d, is %d".formatted(what, most, value));
    }
  }
}
