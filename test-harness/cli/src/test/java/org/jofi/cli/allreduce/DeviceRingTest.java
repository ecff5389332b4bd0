package org.jofi.cli.allreduce;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.transport.FlushPolicy;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Whole all-reduces over the simulated fabric, on arrays in memory of pretended GPUs. */
@Timeout(300)
class DeviceRingTest {
  /** One element, fewer than ranks, odd, several chunks. */
  private static AllReducePlan small(Algorithm algorithm) {
    return new AllReducePlan(List.of(4L, 12L, 4004L, 262_148L), 2, 1, 16 << 10, 4, algorithm);
  }

  /** Chunks of more than one block of staging. */
  private static AllReducePlan large(Algorithm algorithm) {
    return new AllReducePlan(List.of((9L << 20) + 4), 1, 0, 3 << 20, 2, algorithm);
  }

  @ParameterizedTest
  @CsvSource({
    "efa, 2, RING, GPU direct by address",
    "efa, 4, RING, GPU direct by address",
    "efa, 2, DOUBLING, GPU direct by address",
    "efa, 3, DOUBLING, GPU direct by address",
    "efa, 4, AUTO, GPU direct by address",
    "cxi, 2, RING, GPU direct by address",
    "cxi, 4, RING, GPU direct by address",
    "cxi, 3, AUTO, GPU direct by address",
    "cxi, 4, DOUBLING, GPU direct by address",
    "tcp, 2, RING, 'staged through pinned host memory, 1 MiB chunks'",
    "tcp, 4, RING, 'staged through pinned host memory, 1 MiB chunks'",
    "tcp, 3, DOUBLING, 'staged through pinned host memory, 1 MiB chunks'",
    "tcp, 4, AUTO, 'staged through pinned host memory, 1 MiB chunks'"
  })
  void theGpuFormsTheExactSums(String profile, int ranks, Algorithm algorithm, String path)
      throws Throwable {
    DeviceRanks.run(profile, ranks, small(algorithm), FaultPlan.none(), FlushPolicy.AUTO)
        .assertRight(path);
  }

  @ParameterizedTest
  @CsvSource({
    "efa, RING, GPU direct by address",
    "efa, DOUBLING, GPU direct by address",
    "tcp, RING, 'staged through pinned host memory, 1 MiB chunks'",
    "tcp, DOUBLING, 'staged through pinned host memory, 1 MiB chunks'"
  })
  void longMessagesToo(String profile, Algorithm algorithm, String path) throws Throwable {
    DeviceRanks.run(profile, 2, large(algorithm), FaultPlan.none(), FlushPolicy.AUTO)
        .assertRight(path);
  }

  @ParameterizedTest
  @CsvSource({
    "efa, 2, RING",
    "efa, 4, RING",
    "efa, 4, DOUBLING",
    "cxi, 4, RING",
    "cxi, 3, DOUBLING"
  })
  void whatTheGpuDoesNotSeeYetIsFlushed(String profile, int ranks, Algorithm algorithm)
      throws Throwable {
    FaultPlan stale = FaultPlan.none().with(Fault.STALE_UNTIL_FLUSH, 1);
    DeviceRanks.run(profile, ranks, small(algorithm), stale, FlushPolicy.AUTO)
        .assertRight("GPU direct by address");
  }

  /** That the flushes above are what makes the sums right. */
  @ParameterizedTest
  @EnumSource(names = {"RING", "DOUBLING"})
  void withoutFlushesTheSumsAreWrong(Algorithm algorithm) throws Throwable {
    FaultPlan stale = FaultPlan.none().with(Fault.STALE_UNTIL_FLUSH, 1);
    DeviceRanks ranks = DeviceRanks.run("efa", 2, small(algorithm), stale, FlushPolicy.NEVER);
    assertTrue(ranks.wrong() > 0);
  }
}
