package org.jofi.cli.perf;

import net.openhft.chronicle.core.util.Histogram;

/**
 * Sends messages back and forth, one at a time. The next receive is posted before the last message
 * is answered, as collectives do, so that no message has to wait for its receive. For one thread;
 * allocates nothing.
 */
final class PingPong {
  private final Flow sends;
  private final Flow receives;

  PingPong(Flow sends, Flow receives) {
    this.sends = sends;
    this.receives = receives;
  }

  /** Runs the rank that begins. Half of each round trip is a sample, except for the warm-up. */
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

  /** Runs the rank that answers. */
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
