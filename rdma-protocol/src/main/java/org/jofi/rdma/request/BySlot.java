package org.jofi.rdma.request;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The strategies of one kind of the requests of a queue, each made when it is needed first: most
 * communicators are idle. Nothing is allocated for a slot that was used before.
 */
public final class BySlot<T> {
  private final Function<Request, T> make;
  private final List<@Nullable T> made = new ArrayList<>(0);

  public BySlot(Function<Request, T> make) {
    this.make = make;
  }

  public T get(Request request) {
    while (made.size() <= request.slot) {
      made.add(null);
    }
    T one = made.get(request.slot);
    if (one == null) {
      one = make.apply(request);
      made.set(request.slot, one);
    }
    return one;
  }
}
