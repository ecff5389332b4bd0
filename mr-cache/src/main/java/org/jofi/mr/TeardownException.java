package org.jofi.mr;

import java.util.List;

/**
 * Something could not be closed, or not yet. What was closed stays closed; the message names what
 * is left, and the suppressed exceptions say why. The same call can be tried again.
 */
public final class TeardownException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  TeardownException(String message, List<? extends Exception> causes) {
    super(causes.isEmpty() ? message : message + ": " + causes.getFirst().getMessage());
    causes.forEach(this::addSuppressed);
  }
}
