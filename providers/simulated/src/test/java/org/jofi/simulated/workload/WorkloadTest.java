package org.jofi.simulated.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The random workload: what CI holds of it. */
class WorkloadTest {
  /** So many at the least that each fault shows. */
  private static final int SEEDS = Math.max(150, Integer.getInteger("jofi.seeds", 100) / 2);

  @ParameterizedTest
  @ValueSource(strings = {"efa", "cxi", "cxi-client-key", "tcp"})
  void manySeedsWithAllFaults(String profile) {
    WorkloadReport report = Workload.run(WorkloadOptions.of(Profile.named(profile)), 1, SEEDS);
    assertClean(report);
    for (Fault fault : Fault.values()) {
      boolean planned = fault.kind() != Fault.Kind.BROKEN;
      assertEquals(planned, report.faults().get(fault) > 0, () -> fault + " in " + report.faults());
    }
    System.out.printf(
        "%s: %d runs, %d operations, %.1f s, faults %s%n",
        profile,
        report.runs(),
        report.operations(),
        report.nanos() / 1e9,
        report.faults().entrySet().stream()
            .filter(entry -> entry.getValue() > 0)
            .map(entry -> entry.getKey().option() + "=" + entry.getValue())
            .collect(Collectors.joining(" ")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"efa", "cxi", "cxi-client-key", "tcp"})
  void moreRanksAndRails(String profile) {
    WorkloadOptions options =
        WorkloadOptions.of(Profile.named(profile)).withSize(4, 4).withOperations(150);
    assertClean(Workload.run(options, 1, 20));
    assertClean(Workload.run(options.withFaults(FaultPlan.survivable()).withSize(1, 8), 1, 20));
  }

  @ParameterizedTest
  @ValueSource(strings = {"efa", "cxi", "cxi-client-key", "tcp"})
  void hostsAndRailsThatDieLeaveNobodyWaiting(String profile) {
    FaultPlan deadly =
        FaultPlan.survivable()
            .with(Fault.DEAD_PEER, 0.002)
            .with(Fault.DEAD_RAIL, 0.002)
            .with(Fault.COMPLETION_ERROR, 0.03);
    WorkloadReport report =
        Workload.run(WorkloadOptions.of(Profile.named(profile)).withFaults(deadly), 1, SEEDS / 2);
    assertClean(report);
    assertTrue(report.faults().get(Fault.DEAD_PEER) > SEEDS / 10, () -> report.faults().toString());
    assertTrue(report.faults().get(Fault.DEAD_RAIL) > SEEDS / 10, () -> report.faults().toString());
  }

  @ParameterizedTest
  @EnumSource(
      value = Fault.class,
      names = {"DROPPED_WRITE", "MISPLACED_WRITE", "PARTIAL_WRITE", "EARLY_COMPLETION"})
  void brokenFabricsAreFoundOut(Fault fault) {
    WorkloadOptions options =
        WorkloadOptions.of(Profile.EFA).withFaults(FaultPlan.none().with(fault, 0.05));
    WorkloadReport report = Workload.run(options, 1, 10);
    assertTrue(report.faults().get(fault) > 0);
    assertFalse(report.isClean(), () -> fault + " went unnoticed");
    WorkloadReport.Failure failure = report.failures().getFirst();
    assertEquals(
        "./jofi simulate --profile efa --ranks 2 --rails 2 --operations 60 --seed "
            + failure.seed()
            + " --runs 1 --faults "
            + fault.option()
            + "=0.05",
        failure.reproduce());
    WorkloadReport again = Workload.run(options, failure.seed(), 1);
    assertEquals(failure.reason(), again.failures().getFirst().reason());
  }

  @Test
  void overrunQueueIsFoundOut() {
    WorkloadOptions options =
        WorkloadOptions.of(Profile.EFA)
            .withFaults(FaultPlan.none().with(Fault.FULL_CQ, 0.1).with(Fault.CQ_OVERRUN));
    WorkloadReport report = Workload.run(options, 1, 20);
    assertTrue(report.faults().get(Fault.CQ_OVERRUN) > 0);
    assertTrue(
        report.failures().getFirst().reason().contains("EOVERRUN"),
        () -> report.failures().getFirst().reason());
  }

  @Test
  void sameSeedSameTraceInTwoRuns() {
    for (Profile profile : Profile.ALL) {
      WorkloadOptions options = WorkloadOptions.of(profile);
      long hash = Workload.run(options, 42, 5).traceHash();
      assertEquals(hash, Workload.run(options, 42, 5).traceHash(), profile.name());
      assertNotEquals(hash, Workload.run(options, 43, 5).traceHash(), profile.name());
    }
  }

  @Test
  void sameSeedSameTraceInTwoJvms() throws IOException, InterruptedException {
    String other = hashesInNewJvm();
    assertEquals(Profile.ALL.size(), other.lines().count(), other);
    assertEquals(other, hashes());
  }

  /** Prints the hashes: what the JVM that a test starts runs. */
  public static void main(String[] args) {
    System.out.print(hashes());
  }

  private static String hashes() {
    return Profile.ALL.stream()
        .map(
            profile ->
                "%s %x%n"
                    .formatted(
                        profile.name(),
                        Workload.run(WorkloadOptions.of(profile), 7, 25).traceHash()))
        .collect(Collectors.joining());
  }

  private static String hashesInNewJvm() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                List.of(
                    System.getProperty("java.home")
                        + File.separator
                        + "bin"
                        + File.separator
                        + "java",
                    "--enable-native-access=ALL-UNNAMED",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("java.class.path"),
                    WorkloadTest.class.getName()))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the other JVM does not end");
    assertEquals(0, process.exitValue(), output);
    return output;
  }

  private static void assertClean(WorkloadReport report) {
    assertTrue(report.isClean(), () -> report.failures().toString());
  }
}
