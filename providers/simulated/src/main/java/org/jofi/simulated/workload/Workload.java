package org.jofi.simulated.workload;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.contract.ContractViolationException;
import org.jofi.simulated.fault.Fault;

/** Runs the random workload, seed after seed. */
public final class Workload {
  private static final int KEPT_FAILURES = 10;

  private final WorkloadOptions options;
  private final Map<Fault, Long> faults = new EnumMap<>(Fault.class);
  private final List<WorkloadReport.Failure> failures = new ArrayList<>();
  private long operations;
  private long violations;
  private long failed;
  private long traceHash;

  private Workload(WorkloadOptions options) {
    this.options = options;
    for (Fault fault : Fault.values()) {
      faults.put(fault, 0L);
    }
  }

  /**
   * Runs this many seeds, one after the other.
   *
   * @param first the first seed; the others follow it
   * @param runs how many, at least 1
   * @param progress is called after each run with the number of finished runs
   */
  public static WorkloadReport run(
      WorkloadOptions options, long first, long runs, LongConsumer progress) {
    if (runs < 1) {
      throw new IllegalArgumentException("runs must be at least 1, is " + runs);
    }
    Workload workload = new Workload(options);
    long start = System.nanoTime();
    for (long i = 0; i < runs; i++) {
      workload.runSeed(first + i);
      progress.accept(i + 1);
    }
    return new WorkloadReport(
        runs,
        workload.operations,
        Collections.unmodifiableMap(workload.faults),
        workload.violations,
        List.copyOf(workload.failures),
        workload.failed,
        workload.traceHash,
        System.nanoTime() - start);
  }

  /** Runs these seeds without reporting progress. */
  public static WorkloadReport run(WorkloadOptions options, long first, long runs) {
    return run(options, first, runs, done -> {});
  }

  private void runSeed(long seed) {
    try (Arena memory = Arena.ofConfined();
        Simulation simulation =
            Simulation.of(options.profile())
                .seed(seed)
                .hosts(options.ranks())
                .nicsPerHost(options.rails())
                .faults(options.faults())
                .open()) {
      Bootstrap bootstrap = new Bootstrap(options, simulation);
      for (int rank = 0; rank < options.ranks(); rank++) {
        simulation.add(
            simulation.host(rank), new RandomRank(options, simulation, bootstrap, rank, memory));
      }
      runOne(simulation, seed);
      simulation.faults().forEach((fault, count) -> faults.merge(fault, count, Long::sum));
      operations += simulation.operations();
      violations += simulation.violations().size();
      traceHash = traceHash * 31 + simulation.traceHash();
    }
  }

  // A run may fail with any exception; the report names its seed.
  private void runOne(Simulation simulation, long seed) {
    try {
      simulation.run();
      simulation.settle();
      requireAllClosed(simulation);
    } catch (ContractViolationException violation) {
      fail(seed, violation.toString());
    } catch (RuntimeException | AssertionError e) {
      fail(seed, e.toString());
    }
  }

  private static void requireAllClosed(Simulation simulation) {
    boolean anyDied = simulation.hosts().stream().anyMatch(host -> host.isDead());
    if (!anyDied && !simulation.openObjects().isEmpty()) {
      throw new IllegalStateException("left open: " + simulation.openObjects());
    }
  }

  private void fail(long seed, String reason) {
    failed++;
    if (failures.size() < KEPT_FAILURES) {
      failures.add(new WorkloadReport.Failure(seed, reason, options.reproduce(seed)));
    }
  }
}
