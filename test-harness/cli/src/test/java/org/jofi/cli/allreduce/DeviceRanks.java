package org.jofi.cli.allreduce;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jofi.cli.ranks.BoundedWait;
import org.jofi.cli.ranks.RankThreads;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.ranks.JoinOptions;
import org.jofi.ranks.Placement;
import org.jofi.ranks.Ranks;
import org.jofi.rdma.RdmaTransport;
import org.jofi.runtime.Machine;
import org.jofi.simulated.SimulatedDevice;
import org.jofi.simulated.SimulatedDevices;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.simulated.contract.Strictness;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.transport.FlushPolicy;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;

/** Runs a plan over the simulated fabric, on arrays in memory of pretended GPUs. */
final class DeviceRanks {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int RAILS = 2;

  /** What a rank came to. */
  private record Outcome(int rank, String path, List<AllReduceRow> rows, long sums) {}

  private final AllReducePlan plan;
  private final int ranks;
  private final Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  private DeviceRanks(AllReducePlan plan, int ranks) {
    this.plan = plan;
    this.ranks = ranks;
  }

  /** Runs it, each rank a thread with a transport and a GPU of its own. */
  static DeviceRanks run(
      String profile, int ranks, AllReducePlan plan, FaultPlan faults, FlushPolicy flushes)
      throws Throwable {
    DeviceRanks all = new DeviceRanks(plan, ranks);
    SimulatedProvider network = new SimulatedProvider(Strictness.THROW, faults, RAILS);
    TransportOptions options =
        TransportOptions.builder()
            .provider("simulated-" + profile)
            .flushPolicy(flushes)
            .connectTimeout(PATIENCE)
            .requestTimeout(PATIENCE)
            .build();
    SimulatedDevices gpus = new SimulatedDevices(network.host());
    RankThreads.run(
        ranks,
        PATIENCE,
        placement -> {
          try {
            all.outcomes.add(all.rank(network, options, gpus, placement));
          } catch (Throwable failure) {
            all.failures.add(failure);
          }
          return 0;
        });
    for (Throwable failure : all.failures) {
      throw failure;
    }
    assertEquals(ranks, all.outcomes.size());
    assertEquals(List.of(), network.violations());
    return all;
  }

  private Outcome rank(
      SimulatedProvider network,
      TransportOptions options,
      SimulatedDevices gpus,
      Placement placement) {
    SimulatedDevice gpu = gpus.open(0);
    try (Ranks bootstrap = Ranks.join(placement, JoinOptions.defaults().withSecret(""), PATIENCE);
        Transport transport =
            RdmaTransport.open(network, options, Machine.environment().withDeviceMemory(gpus::of));
        DeviceArrays arrays = new DeviceArrays(gpu)) {
      BoundedWait patience = new BoundedWait(bootstrap, PATIENCE);
      RingLinks links =
          RingLinks.connect(bootstrap, transport.devices().getFirst(), patience, plan.partners());
      AllReduceRun run = new AllReduceRun(plan, links, arrays, done -> {});
      List<AllReduceRow> rows = new ArrayList<>();
      String path = run.path();
      run.run(rows::add);
      links.gather(new byte[0]);
      links.close();
      return new Outcome(placement.rank(), path, rows, gpu.sums());
    }
  }

  private long sums(int rank) {
    return plan.sizesBytes().stream()
        .mapToLong(bytes -> (plan.warmup(bytes) + plan.iterations(bytes)) * sums(rank, bytes))
        .sum();
  }

  /** How often a rank adds for one array. */
  private long sums(int rank, long bytes) {
    long elements = bytes / Float.BYTES;
    long most = plan.chunkBytes() / Float.BYTES;
    if (plan.algorithm(bytes) == Algorithm.RING) {
      int chunk = (int) Math.min(most, Math.ceilDiv(elements, ranks));
      return new RingSchedule(rank, ranks, elements, chunk).reductions();
    }
    return Math.ceilDiv(elements, most)
        * new DoublingSchedule(rank, ranks)
            .steps().stream().filter(step -> step.action().adds()).count();
  }

  /** How many elements were wrong. */
  long wrong() {
    return outcomes.stream()
        .flatMap(outcome -> outcome.rows.stream())
        .mapToLong(AllReduceRow::wrong)
        .sum();
  }

  /** That the GPUs formed the exact sums, and as many as they had to. */
  void assertRight(String path) {
    assertEquals(0, wrong());
    for (Outcome outcome : outcomes) {
      assertEquals(plan.sizesBytes().size(), outcome.rows.size());
      assertEquals(path, outcome.path);
      assertEquals(sums(outcome.rank), outcome.sums, "sums that the GPU formed");
    }
  }
}
