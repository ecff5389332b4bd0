package org.jofi.runtime;

import java.util.function.IntSupplier;
import org.agrona.concurrent.Agent;

/**
 * Answers peers: pings, closes and connection requests that arrive while no thread of the
 * application polls their endpoint. It does one pass per wake-up and idles in between.
 */
final class HousekeepingAgent implements Agent {
  private final IntSupplier tend;

  HousekeepingAgent(IntSupplier tend) {
    this.tend = tend;
  }

  @Override
  public int doWork() {
    // Always idle afterwards: the application's own polling is what is fast.
    int events = tend.getAsInt();
    return events > 0 ? 0 : events;
  }

  @Override
  public String roleName() {
    return "jofi-keeper";
  }
}
