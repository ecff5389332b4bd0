package org.jofi.transport;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Set-up failed, or a wait failed. The message says what was tried, where, why it failed, and what
 * helps.
 */
public final class TransportException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final FailureCause failure;

  public TransportException(FailureCause failure, String message) {
    this(failure, message, null);
  }

  public TransportException(FailureCause failure, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.failure = Objects.requireNonNull(failure);
  }

  /** Why it failed. */
  public FailureCause failure() {
    return failure;
  }
}
