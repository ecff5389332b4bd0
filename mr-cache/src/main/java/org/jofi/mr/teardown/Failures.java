package org.jofi.mr.teardown;

import org.jspecify.annotations.Nullable;

/** Keeps the first of several failures and adds the others to it as suppressed exceptions. */
public final class Failures {
  private Failures() {}

  @SuppressWarnings("ReferenceEquality") // An exception must not suppress itself.
  public static RuntimeException join(@Nullable RuntimeException first, RuntimeException next) {
    if (first == null) {
      return next;
    }
    if (first != next) {
      first.addSuppressed(next);
    }
    return first;
  }
}
