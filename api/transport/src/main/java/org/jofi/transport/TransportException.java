package org.jofi.transport;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Set-up failed, or a wait failed. The message says what was tried, where, why it failed, and what
 * helps.
 */
public final class TransportException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Why it failed. */
  private final FailureCause failure;

  /**
   * A failure that no other exception caused.
   *
   * @param failure why it failed
   * @param message what was tried, where, why it failed, and what helps
   */
  public TransportException(FailureCause failure, String message) {
    this(failure, message, null);
  }

  /**
   * A failure, with the exception that caused it.
   *
   * @param failure why it failed
   * @param message what was tried, where, why it failed, and what helps
   * @param cause the exception that caused this one; null if none did
   */
  public TransportException(FailureCause failure, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.failure = Objects.requireNonNull(failure);
  }

  /** {@return why it failed} */
  public FailureCause failure() {
    return failure;
  }
}
