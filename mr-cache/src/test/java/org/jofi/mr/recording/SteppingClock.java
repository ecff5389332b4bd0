package org.jofi.mr.recording;

import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.NanoClock;

/** Time that passes by being looked at: a microsecond each time. */
public final class SteppingClock implements NanoClock {
  public static final long STEP_NS = 1_000;
  private final AtomicLong now = new AtomicLong();

  @Override
  public long nanoTime() {
    return now.getAndAdd(STEP_NS);
  }
}
