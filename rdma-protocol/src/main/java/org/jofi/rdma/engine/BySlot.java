package org.jofi.rdma.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Requests, or their strategies of one kind, by slot, each made when its slot is used first: most
 * communicators are idle. Nothing is allocated for a slot that was used before.
 */
final class BySlot<T> {
  private final IntFunction<T> make;
  private final List<@Nullable T> made = new ArrayList<>(0);

  BySlot(IntFunction<T> make) {
    this.make = make;
  }

  /** What is of a slot. */
  T get(int slot) {
    while (made.size() <= slot) {
      made.add(null);
    }
    T one = made.get(slot);
    if (one == null) {
      one = make.apply(slot);
      made.set(slot, one);
    }
    return one;
  }
}
