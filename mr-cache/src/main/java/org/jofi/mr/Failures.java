package org.jofi.mr;

import org.jspecify.annotations.Nullable;

/** Keeps the first of several failures and hangs the others to it. */
final class Failures {
  private Failures() {}

  @SuppressWarnings("ReferenceEquality") // No exception may suppress itself.
  static RuntimeException join(@Nullable RuntimeException first, RuntimeException next) {
    if (first == null) {
      return next;
    }
    if (first != next) {
      first.addSuppressed(next);
    }
    return first;
  }
}
