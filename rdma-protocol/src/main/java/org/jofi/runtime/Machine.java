package org.jofi.runtime;

import java.nio.file.Path;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.SystemNanoClock;
import org.jofi.counters.written.CounterFile;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.rdma.spi.RdmaEnvironment;

/** This machine, as the protocol sees it. */
public final class Machine {
  /** The largest page that Linux uses: whole pages everywhere. */
  private static final int PAGE_BYTES = 64 * 1024;

  private static final int SPINS = 10;
  private static final int YIELDS = 100;
  private static final long LEAST_PARK_NS = 1_000;
  private static final long MOST_PARK_NS = 1_000_000;

  private Machine() {}

  public static RdmaEnvironment environment() {
    return environment(CounterFile.unshared());
  }

  static RdmaEnvironment environment(CounterFile counters) {
    return new RdmaEnvironment(
        SystemNanoClock.INSTANCE,
        new RandomNumbers(),
        () -> new BackoffIdleStrategy(SPINS, YIELDS, LEAST_PARK_NS, MOST_PARK_NS),
        PAGE_BYTES,
        Runtime.getRuntime().availableProcessors(),
        ProgressThread::start,
        Path.of("/sys"),
        DeviceMemoryProvider::of,
        counters);
  }
}
