package org.jofi.mr.teardown;

import java.util.List;

/**
 * Something could not be closed, or not yet. The message names what is still open, and the
 * suppressed exceptions say why. Everything else is closed. The same call can be repeated.
 */
public final class TeardownException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The message names what is open; each cause is why something is. */
  public TeardownException(String message, List<? extends Exception> causes) {
    super(causes.isEmpty() ? message : message + ": " + causes.getFirst().getMessage());
    causes.forEach(this::addSuppressed);
  }
}
