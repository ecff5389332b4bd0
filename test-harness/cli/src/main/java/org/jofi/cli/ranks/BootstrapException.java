package org.jofi.cli.ranks;

/** Ranks could not come together, or one of them is lost. The message is for people. */
public final class BootstrapException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public BootstrapException(String message) {
    super(message);
  }

  public BootstrapException(String message, Throwable cause) {
    super(message, cause);
  }
}
