package org.jofi.transport;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Set-up failed, or a wait did. The message says what was done, where, why, and what helps. */
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

  /** Why. */
  public FailureCause failure() {
    return failure;
  }
}
