package org.jofi.runtime;

import java.util.function.IntSupplier;
import org.agrona.concurrent.Agent;

/**
 * The duty of answering peers: pings, closes and connection requests that arrive while no thread of
 * the application drives their endpoint. One pass per wake-up; it idles in between.
 */
final class Keeper implements Agent {
  private final IntSupplier tend;

  Keeper(IntSupplier tend) {
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
