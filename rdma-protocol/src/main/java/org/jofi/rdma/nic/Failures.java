package org.jofi.rdma.nic;

import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.FabricErrno;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;

/** What failed operations mean to the requests that posted them. */
public final class Failures {
  private Failures() {}

  public static Failure of(RailPort port, CompletionError error) {
    return new Failure(
        cause(error.errno()),
        error.errno(),
        "%s on %s".formatted(CompletionFlags.operation(error.flags()), port.rail()),
        error.providerText());
  }

  /** An operation that was not taken; {@code errno} is positive. */
  public static Failure ofPost(String operation, RailPort port, int errno) {
    return new Failure(
        cause(errno), errno, "%s on %s".formatted(operation, port.rail()), "not taken");
  }

  /**
   * Whether an established connection broke. Cancelled operations count: nobody else cancels what
   * is out.
   */
  public static boolean isOfBrokenConnection(Failure why) {
    return switch (why.errno()) {
      case FabricErrno.ECANCELED,
          FabricErrno.ENOTCONN,
          FabricErrno.ECONNRESET,
          FabricErrno.ECONNABORTED,
          FabricErrno.ESHUTDOWN,
          FabricErrno.EPIPE ->
          true;
      default -> false;
    };
  }

  private static FailureCause cause(int errno) {
    return switch (errno) {
      case FabricErrno.EHOSTUNREACH,
          FabricErrno.EHOSTDOWN,
          FabricErrno.ENOTCONN,
          FabricErrno.ECONNRESET,
          FabricErrno.ECONNABORTED,
          FabricErrno.ECONNREFUSED,
          FabricErrno.ENETDOWN,
          FabricErrno.ENETUNREACH,
          FabricErrno.ESHUTDOWN,
          FabricErrno.EPIPE ->
          FailureCause.PEER_LOST;
      case FabricErrno.ENOSYS, FabricErrno.EOPNOTSUPP -> FailureCause.UNAVAILABLE;
      default -> FailureCause.FABRIC;
    };
  }
}
