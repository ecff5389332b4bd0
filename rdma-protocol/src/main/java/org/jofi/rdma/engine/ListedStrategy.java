package org.jofi.rdma.engine;

import org.jspecify.annotations.Nullable;

/**
 * A strategy whose requests are in a {@link StrategyList}.
 *
 * @param <T> the strategies in the list
 */
abstract class ListedStrategy<T extends ListedStrategy<T>> extends RequestStrategy {
  private @Nullable T previous;
  private @Nullable T next;

  ListedStrategy(Request request) {
    super(request);
  }

  final @Nullable T previous() {
    return previous;
  }

  /** The one after it; null if it is the last. */
  final @Nullable T next() {
    return next;
  }

  final void link(@Nullable T before, @Nullable T after) {
    previous = before;
    next = after;
  }
}
