package org.jofi.mr.registration;

import org.jspecify.annotations.Nullable;

/**
 * Memory could not be registered; nothing stayed registered. The message names the role, the range,
 * the rail and the call that was refused. The cause is the provider's exception or {@code
 * KeysExhaustedException}.
 */
public final class RegistrationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The message names what was refused. */
  public RegistrationException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
