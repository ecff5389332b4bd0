package org.jofi.cli.allreduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jofi.cli.ranks.Bootstrap;
import org.jofi.cli.ranks.BoundedWait;
import org.jofi.cli.ranks.Placement;
import org.jofi.cli.ranks.RankThreads;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.rdma.RdmaTransport;
import org.jofi.simulated.SimulatedDevice;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.simulated.contract.Strictness;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.transport.FlushPolicy;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The whole ring over the simulated fabric, on arrays in memory of pretended GPUs. */
@Timeout(300)
class DeviceRingTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int RAILS = 2;

  /** One element, fewer than ranks, odd, several chunks. */
  private static final AllReducePlan SMALL =
      new AllReducePlan(List.of(4L, 12L, 4004L, 262_148L), 2, 1, 16 << 10, 4);

  /** Chunks of more than one block of staging. */
  private static final AllReducePlan LARGE =
      new AllReducePlan(List.of((9L << 20) + 4), 1, 0, 3 << 20, 2);

  /** What a rank came to. */
  private record Outcome(int rank, String path, List<AllReduceRow> rows, long sums) {}

  private final Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  /** Runs it, each rank a thread with a transport and a GPU of its own. */
  private void run(
      String profile, int ranks, AllReducePlan plan, FaultPlan faults, FlushPolicy flushes)
      throws Throwable {
    SimulatedProvider network = new SimulatedProvider(Strictness.THROW, faults, RAILS);
    TransportOptions options =
        TransportOptions.builder()
            .provider("simulated-" + profile)
            .flushPolicy(flushes)
            .connectTimeout(PATIENCE)
            .requestTimeout(PATIENCE)
            .build();
    PretendedGpus gpus = new PretendedGpus(network);
    RankThreads.run(
        ranks,
        PATIENCE,
        placement -> {
          try {
            outcomes.add(rank(network, options, gpus, plan, placement));
          } catch (Throwable failure) {
            failures.add(failure);
          }
          return 0;
        });
    for (Throwable failure : failures) {
      throw failure;
    }
    assertEquals(ranks, outcomes.size());
    assertEquals(List.of(), network.violations());
  }

  private static Outcome rank(
      SimulatedProvider network,
      TransportOptions options,
      PretendedGpus gpus,
      AllReducePlan plan,
      Placement placement) {
    SimulatedDevice gpu = gpus.open();
    try (Bootstrap bootstrap = Bootstrap.join(placement, "", Map.of(), PATIENCE);
        Transport transport = RdmaTransport.open(network, options, gpus.environment());
        DeviceArrays arrays = new DeviceArrays(gpu)) {
      BoundedWait patience = new BoundedWait(bootstrap, PATIENCE);
      RingLinks links = RingLinks.connect(bootstrap, transport.devices().getFirst(), patience);
      AllReduceRun run = new AllReduceRun(plan, links, arrays, done -> {});
      List<AllReduceRow> rows = new ArrayList<>();
      String path = run.path();
      run.run(rows::add);
      links.gather(new byte[0]);
      links.close();
      return new Outcome(placement.rank(), path, rows, gpu.sums());
    }
  }

  private static long sums(AllReducePlan plan, int rank, int ranks) {
    long sums = 0;
    for (long bytes : plan.sizesBytes()) {
      long elements = bytes / Float.BYTES;
      int chunk = (int) Math.min(plan.chunkBytes() / Float.BYTES, Math.ceilDiv(elements, ranks));
      sums +=
          (long) (plan.warmup(bytes) + plan.iterations(bytes))
              * new RingSchedule(rank, ranks, elements, chunk).reductions();
    }
    return sums;
  }

  private long wrong() {
    return outcomes.stream()
        .flatMap(outcome -> outcome.rows.stream())
        .mapToLong(AllReduceRow::wrong)
        .sum();
  }

  private void assertRight(AllReducePlan plan, int ranks, String path) {
    assertEquals(0, wrong());
    for (Outcome outcome : outcomes) {
      assertEquals(plan.sizesBytes().size(), outcome.rows.size());
      assertEquals(path, outcome.path);
      assertEquals(sums(plan, outcome.rank, ranks), outcome.sums, "sums that the GPU formed");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "efa, 2, GPU direct by address",
    "efa, 4, GPU direct by address",
    "cxi, 2, GPU direct by address",
    "cxi, 4, GPU direct by address",
    "tcp, 2, 'staged through pinned host memory, 1 MiB chunks'",
    "tcp, 4, 'staged through pinned host memory, 1 MiB chunks'"
  })
  void theGpuFormsTheExactSums(String profile, int ranks, String path) throws Throwable {
    run(profile, ranks, SMALL, FaultPlan.none(), FlushPolicy.AUTO);
    assertRight(SMALL, ranks, path);
  }

  @ParameterizedTest
  @CsvSource({
    "efa, GPU direct by address",
    "tcp, 'staged through pinned host memory, 1 MiB chunks'"
  })
  void longMessagesToo(String profile, String path) throws Throwable {
    run(profile, 2, LARGE, FaultPlan.none(), FlushPolicy.AUTO);
    assertRight(LARGE, 2, path);
  }

  @ParameterizedTest
  @CsvSource({"efa, 2", "efa, 4", "cxi, 4"})
  void whatTheGpuDoesNotSeeYetIsFlushed(String profile, int ranks) throws Throwable {
    run(profile, ranks, SMALL, FaultPlan.none().with(Fault.STALE_UNTIL_FLUSH, 1), FlushPolicy.AUTO);
    assertRight(SMALL, ranks, "GPU direct by address");
  }

  /** That the flushes above are what makes the sums right. */
  @Test
  void withoutFlushesTheSumsAreWrong() throws Throwable {
    run("efa", 2, SMALL, FaultPlan.none().with(Fault.STALE_UNTIL_FLUSH, 1), FlushPolicy.NEVER);
    assertTrue(wrong() > 0);
  }
}
