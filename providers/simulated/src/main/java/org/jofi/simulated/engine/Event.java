package org.jofi.simulated.engine;

import org.jspecify.annotations.Nullable;

/** A stage of a transfer that is due at a given time. Pooled by its queue. */
final class Event implements Comparable<Event> {
  long at;
  long order;
  Stage stage = Stage.DEPART;
  @Nullable Transfer transfer;

  @Override
  public int compareTo(Event other) {
    int byTime = Long.compare(at, other.at);
    return byTime != 0 ? byTime : Long.compare(order, other.order);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(order);
  }
}
