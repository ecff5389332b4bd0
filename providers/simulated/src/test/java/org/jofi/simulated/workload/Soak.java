package org.jofi.simulated.workload;

import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;

/** Runs seeds by hand: profile, faults, first seed, runs, operations. */
public final class Soak {
  private Soak() {}

  public static void main(String[] args) {
    WorkloadOptions options =
        WorkloadOptions.of(Profile.named(args[0]))
            .withFaults(FaultPlan.parse(args[1]))
            .withOperations(Integer.parseInt(args[4]));
    WorkloadReport report = Workload.run(options, Long.parseLong(args[2]), Long.parseLong(args[3]));
    System.out.printf(
        "%s: %d runs, %d operations, %d failed, %d violations, hash %x, %d ms%n%s%n",
        args[0],
        report.runs(),
        report.operations(),
        report.failed(),
        report.violations(),
        report.traceHash(),
        report.nanos() / 1_000_000,
        report.faults());
    report.failures().stream()
        .limit(2)
        .forEach(failure -> System.out.println(failure.reproduce() + "\n" + failure.reason()));
  }
}
