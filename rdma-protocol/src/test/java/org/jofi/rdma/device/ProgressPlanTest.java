package org.jofi.rdma.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jofi.fabric.ProviderTraits;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Tuning;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProgressPlanTest {
  @ParameterizedTest
  @CsvSource({
    "NEVER,  true,  64, 0, false, 1",
    "NEVER,  true,  64, 3, false, 3",
    "AUTO,   true,  16, 0, true,  4",
    "AUTO,   true,  15, 0, false, 1",
    "AUTO,   true,  16, 2, true,  2",
    "AUTO,   true,  64, 0, true,  4",
    "AUTO,   false, 64, 2, false, 2",
    "AUTO,   false, 64, 0, false, 1",
    "ALWAYS, true,  2,  0, true,  4",
    "ALWAYS, false, 64, 1, true,  1"
  })
  void threadsAreForProvidersThatCopyAndManyProcessors(
      ProgressThreads asked,
      boolean copies,
      int processors,
      int configured,
      boolean threads,
      int endpoints) {
    ProgressPlan plan =
        ProgressPlan.of(
            TransportOptions.builder()
                .progressThreads(asked)
                .tuning(Tuning.DEFAULT.withEndpointsPerDevice(configured))
                .build(),
            new ProviderTraits(false, 0, copies, false, true, true, 0, 0, 0),
            processors);
    assertEquals(threads, plan.threads());
    assertEquals(endpoints, plan.endpoints());
    assertEquals(threads ? 1 : 0, plan.reasons().size());
  }
}
