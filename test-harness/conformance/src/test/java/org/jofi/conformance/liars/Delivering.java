package org.jofi.conformance.liars;

import java.util.function.UnaryOperator;

/** Changes completions on their way. */
final class Delivering extends Lie {
  private final UnaryOperator<Event> change;

  Delivering(UnaryOperator<Event> change) {
    this.change = change;
  }

  @Override
  void deliver(LyingQueue queue, Event event) {
    queue.give(change.apply(event));
  }
}
