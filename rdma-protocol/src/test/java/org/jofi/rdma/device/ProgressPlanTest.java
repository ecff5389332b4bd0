package org.jofi.rdma.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jofi.transport.ProgressThreads;
import org.jofi.transport.TransportOptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProgressPlanTest {
  @ParameterizedTest
  @CsvSource({
    "NEVER,  tcp,         64, 0, false, 1",
    "NEVER,  tcp,         64, 3, false, 3",
    "AUTO,   tcp,         16, 0, true,  4",
    "AUTO,   tcp,         15, 0, false, 1",
    "AUTO,   tcp;ofi_rxm, 16, 0, true,  4",
    "AUTO,   net,         16, 2, true,  2",
    "AUTO,   shm,         64, 0, true,  4",
    "AUTO,   efa,         64, 2, false, 2",
    "AUTO,   cxi,         64, 0, false, 1",
    "ALWAYS, shm,         2,  0, true,  4",
    "ALWAYS, cxi,         64, 1, true,  1"
  })
  void threadsAreForProvidersThatCopyAndManyProcessors(
      ProgressThreads asked,
      String provider,
      int processors,
      int configured,
      boolean threads,
      int endpoints) {
    ProgressPlan plan =
        ProgressPlan.of(
            TransportOptions.builder()
                .progressThreads(asked)
                .endpointsPerDevice(configured)
                .build(),
            provider,
            processors);
    assertEquals(threads, plan.threads());
    assertEquals(endpoints, plan.endpoints());
    assertEquals(threads ? 1 : 0, plan.reasons().size());
  }
}
