package org.jofi.mr;

import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jspecify.annotations.Nullable;

/**
 * Memory could not be registered; nothing stayed registered. The message names the role, the range,
 * the rail and the call that was refused. The cause is the provider's exception or {@link
 * KeysExhaustedException}.
 */
public final class RegistrationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Regions that could not be closed again; their owner has to retry. */
  private final transient @Nullable RegionSet leftover;

  RegistrationException(String message, @Nullable Throwable cause, @Nullable RegionSet leftover) {
    super(message, cause);
    this.leftover = leftover;
  }

  @Nullable RegionSet leftover() {
    return leftover;
  }

  /** Whether closing other registrations may help. */
  boolean isOutOfResources() {
    return getCause() instanceof KeysExhaustedException
        || (getCause() instanceof FabricException refused
            && (refused.errno() == FabricErrno.ENOMEM || refused.errno() == FabricErrno.ENOSPC));
  }
}
