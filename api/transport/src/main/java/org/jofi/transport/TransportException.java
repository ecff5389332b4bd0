package org.jofi.transport;

import java.util.Objects;
import org.jofi.fabric.FabricException;
import org.jspecify.annotations.Nullable;

/**
 * Set-up failed, or a wait failed. The message says what was tried, where, why it failed, and what
 * helps; {@link #failure} says the same to programs.
 */
public final class TransportException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** How it failed. */
  private final Failure failure;

  /**
   * A request, a communicator or a connection attempt failed.
   *
   * @param failure how; it is the message, too
   */
  public TransportException(Failure failure) {
    super(failure.toString());
    this.failure = failure;
  }

  /**
   * A failure that no other exception caused.
   *
   * @param cause why it failed
   * @param message what was tried, where, why it failed, and what helps
   */
  public TransportException(FailureCause cause, String message) {
    this(cause, message, null);
  }

  /**
   * A failure, with the exception that caused it.
   *
   * @param cause why it failed
   * @param message what was tried, where, why it failed, and what helps
   * @param thrown the exception that caused this one; null if none did
   */
  public TransportException(FailureCause cause, String message, @Nullable Throwable thrown) {
    super(message, thrown);
    this.failure = failure(Objects.requireNonNull(cause), message, thrown);
  }

  private static Failure failure(FailureCause cause, String message, @Nullable Throwable thrown) {
    for (Throwable each = thrown; each != null; each = each.getCause()) {
      if (each instanceof FabricException fabric) {
        return new Failure(cause, fabric.errno(), fabric.where(), message);
      }
      if (each instanceof TransportException known) {
        return new Failure(cause, known.failure.errno(), known.failure.where(), message);
      }
    }
    return new Failure(cause, 0, "", message);
  }

  /** {@return how it failed: why, with which errno of the fabric, and where, as far as known} */
  public Failure failure() {
    return failure;
  }
}
