package org.jofi.cli.soak;

/** What arrived is not what was sent, or a promise of the API is broken. Nothing excuses that. */
final class WrongDataException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  WrongDataException(String message) {
    super(message);
  }
}
