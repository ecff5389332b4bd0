package org.jofi.rdma.request;

import org.jspecify.annotations.Nullable;

/**
 * A strategy whose requests are in a {@link StrategyList}.
 *
 * @param <T> the strategies in the list
 */
public abstract class ListedStrategy<T extends ListedStrategy<T>> extends RequestStrategy {
  private @Nullable T previous;
  private @Nullable T next;

  public ListedStrategy(Request request) {
    super(request);
  }

  public final @Nullable T previous() {
    return previous;
  }

  /** The one after it; null if it is the last. */
  public final @Nullable T next() {
    return next;
  }

  public final void link(@Nullable T before, @Nullable T after) {
    previous = before;
    next = after;
  }
}
