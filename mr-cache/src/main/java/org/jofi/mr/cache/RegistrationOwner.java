package org.jofi.mr.cache;

import org.jofi.mr.registration.BufferRange;

/** Whoever makes registrations of its own, which nobody shares. */
@FunctionalInterface
public interface RegistrationOwner {
  /**
   * Called before it registers a range, under the cache's lock.
   *
   * @throws IllegalStateException if it is closing
   */
  void refuseIfClosing(BufferRange range);
}
