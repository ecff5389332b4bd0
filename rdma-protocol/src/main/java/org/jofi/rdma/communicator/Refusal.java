package org.jofi.rdma.communicator;

import org.jofi.fabric.FabricException;
import org.jofi.transport.FailureCause;

/** Why memory could not be registered or let go of, in the API's words. */
public final class Refusal {
  private Refusal() {}

  /**
   * The cause of an exception of a provider or of the registrations.
   *
   * @param thrown what was thrown
   * @param otherwise the cause if neither a provider nor an interrupt was the reason
   */
  public static FailureCause cause(RuntimeException thrown, FailureCause otherwise) {
    Throwable reason = thrown instanceof FabricException ? thrown : thrown.getCause();
    return switch (reason) {
      case FabricException _ -> FailureCause.FABRIC;
      case InterruptedException _ -> FailureCause.INTERRUPTED;
      case null, default -> otherwise;
    };
  }
}
