package org.jofi.rdma.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The strategies of one kind by their request's slot, each made when it is used first. Nothing is
 * allocated for a slot that was used before.
 */
final class BySlot<T extends RequestStrategy> {
  private final Function<Request, T> make;
  private final List<@Nullable T> strategies = new ArrayList<>(0);

  BySlot(Function<Request, T> make) {
    this.make = make;
  }

  /** The strategy of a request. */
  T of(Request request) {
    int slot = request.slot();
    while (strategies.size() <= slot) {
      strategies.add(null);
    }
    T strategy = strategies.get(slot);
    if (strategy == null) {
      strategy = make.apply(request);
      strategies.set(slot, strategy);
    }
    return strategy;
  }
}
