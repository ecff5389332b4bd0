package org.jofi.cli.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import net.openhft.chronicle.core.util.Histogram;
import org.junit.jupiter.api.Test;

class PerfRowTest {
  @Test
  void joinsBothSides() {
    PerfRow.Measured first =
        PerfRow.Measured.decode(new PerfRow.Measured(1_000, 2_000, 3_000, 500_000_000, 1).encode());
    PerfRow.Measured second = new PerfRow.Measured(9, 9, 9, 1_000_000_000, 2);
    PerfRow one = PerfRow.of(100, 50, false, first, second);
    assertEquals(1_000, one.p50Nanos());
    assertEquals(3_000, one.p999Nanos());
    assertEquals(50, one.messagesPerSecond());
    assertEquals(5_000, one.bytesPerSecond());
    assertEquals(3, one.errors());
    assertEquals(100, PerfRow.of(100, 50, true, first, second).messagesPerSecond());
  }

  @Test
  void latenciesAreExactToTheirResolution() {
    Histogram histogram = new Histogram(PerfRun.HISTOGRAM_POWERS, PerfRun.HISTOGRAM_BITS);
    for (int i = 1; i <= 100_000; i++) {
      histogram.sample(i * 10.0);
    }
    assertEquals(500_000, histogram.percentile(0.5), 500_000 * 0.005);
    assertEquals(990_000, histogram.percentile(0.99), 990_000 * 0.005);
    assertEquals(999_000, histogram.percentile(0.999), 999_000 * 0.005);
    histogram.reset();
    histogram.sample(60e9);
    assertEquals(60e9, histogram.percentile(0.5), 60e9 * 0.005);
  }

  @Test
  void longMessagesAreFewer() {
    PerfPlan plan = new PerfPlan(PerfOperation.SEND, List.of(8L, 1L << 26), 0, -1, 8, false, false);
    assertEquals(10_000, plan.iterations(8));
    assertEquals(5_000, plan.warmup(8), "the compiler's share");
    assertEquals(20, plan.iterations(1L << 26));
    assertEquals(10, plan.warmup(1L << 26));
    assertThrows(
        IllegalArgumentException.class,
        () -> new PerfPlan(PerfOperation.SEND, List.of(0L), 0, -1, 8, false, false));
    assertThrows(
        IllegalArgumentException.class,
        () -> new PerfPlan(PerfOperation.SEND, List.of(8L), 0, -1, 65, false, false));
  }
}
