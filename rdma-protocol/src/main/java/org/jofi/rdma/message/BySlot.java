package org.jofi.rdma.message;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Requests by their slot, each made when its slot is used first: most communicators are idle.
 * Nothing is allocated for a slot that was used before.
 */
final class BySlot<T extends Request> {
  private final IntFunction<T> make;
  private final List<@Nullable T> requests = new ArrayList<>(0);

  BySlot(IntFunction<T> make) {
    this.make = make;
  }

  /** The request of a slot. */
  T get(int slot) {
    T request = find(slot);
    if (request == null) {
      request = make.apply(slot);
      set(slot, request);
    }
    return request;
  }

  /** The request of a slot; null if it was never used. */
  @Nullable T find(int slot) {
    return slot < requests.size() ? requests.get(slot) : null;
  }

  void set(int slot, T request) {
    while (requests.size() <= slot) {
      requests.add(null);
    }
    requests.set(slot, request);
  }
}
