package org.jofi.cli.perf;

import net.openhft.chronicle.core.util.Histogram;

/**
 * Messages to and fro, one at a time. The next receive is posted before the answer to the last is
 * sent, as collectives do, so that no message waits for its receive. For one thread; allocates
 * nothing.
 */
final class PingPong {
  private final Flow sends;
  private final Flow receives;

  PingPong(Flow sends, Flow receives) {
    this.sends = sends;
    this.receives = receives;
  }

  /** The side that begins; each half of a round trip is a sample, but for the first ones. */
  void begin(int warmup, int count, Histogram halves) {
    receives.begin(warmup + count);
    sends.begin(warmup + count);
    receives.postAhead();
    for (int i = 0; i < warmup + count; i++) {
      long before = System.nanoTime();
      sends.finish(i);
      receives.finish(i);
      long after = System.nanoTime();
      if (i >= warmup) {
        halves.sample((after - before) / 2.0);
      }
      receives.postAhead();
    }
  }

  /** The side that answers. */
  void answer(int count) {
    receives.begin(count);
    sends.begin(count);
    receives.postAhead();
    for (int i = 0; i < count; i++) {
      receives.finish(i);
      receives.postAhead();
      sends.finish(i);
    }
  }
}
