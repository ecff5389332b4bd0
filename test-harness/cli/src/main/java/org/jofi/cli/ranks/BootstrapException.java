package org.jofi.cli.ranks;

/**
 * The ranks could not connect to each other, or one of them is lost. The message is for the user.
 */
public final class BootstrapException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public BootstrapException(String message) {
    super(message);
  }

  public BootstrapException(String message, Throwable cause) {
    super(message, cause);
  }
}
