package org.jofi.rdma.connect;

import java.util.concurrent.atomic.AtomicLong;

/**
 * That a process may be dead, which the endpoints of a device tell each other: a close of one of
 * them has waited for half of its bound. Each then asks whom its connections lead to, so that by
 * the end of that bound all know who is dead, and no other close waits for it. Any thread.
 */
public final class Suspicion {
  private final AtomicLong raised = new AtomicLong();

  /** Nobody is suspected. */
  public Suspicion() {}

  void raise() {
    raised.incrementAndGet();
  }

  /** Changes when it is raised. */
  long raised() {
    return raised.get();
  }
}
