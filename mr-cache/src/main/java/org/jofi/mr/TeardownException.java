package org.jofi.mr;

import java.util.List;

/**
 * Something could not be closed, or not yet. The message names what is still open, and the
 * suppressed exceptions say why. Everything else is closed. The same call can be repeated.
 */
public final class TeardownException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  TeardownException(String message, List<? extends Exception> causes) {
    super(causes.isEmpty() ? message : message + ": " + causes.getFirst().getMessage());
    causes.forEach(this::addSuppressed);
  }
}
