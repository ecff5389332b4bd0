package org.jofi.rdma.request;

import org.jspecify.annotations.Nullable;

/**
 * A strategy whose requests are in a {@link StrategyList}.
 *
 * @param <T> the strategies in the list
 */
public abstract class ListedStrategy<T extends ListedStrategy<T>> extends RequestStrategy {
  @Nullable T previous;

  /** The one after it; null if it is the last. */
  @Nullable T next;

  public ListedStrategy(Request request) {
    super(request);
  }

  /** The one after it; null if it is the last. */
  public final @Nullable T next() {
    return next;
  }
}
