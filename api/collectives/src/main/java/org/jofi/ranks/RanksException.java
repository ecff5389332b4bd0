package org.jofi.ranks;

/**
 * Ranks did not find each other, or cannot go on together. The message is for whoever started them:
 * it says what happened, where, and what to do.
 */
public class RanksException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Ranks cannot go on.
   *
   * @param message says why
   */
  public RanksException(String message) {
    super(message);
  }

  /**
   * Ranks cannot go on.
   *
   * @param message says why
   * @param cause what was met
   */
  public RanksException(String message, Throwable cause) {
    super(message, cause);
  }
}
