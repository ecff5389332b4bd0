package org.jofi.nccl;

import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;

/** The results of the plugin's functions: ncclResult_t. */
final class NcclResult {
  /** ncclSuccess. */
  static final int SUCCESS = 0;

  /** ncclSystemError: something failed on this machine, such as its NICs or its memory. */
  static final int SYSTEM_ERROR = 2;

  /** ncclInternalError: there is a defect, here or in the caller. */
  static final int INTERNAL_ERROR = 3;

  /** ncclInvalidArgument. */
  static final int INVALID_ARGUMENT = 4;

  /** ncclInvalidUsage: a function was called at the wrong time, or ranks differ in what they do. */
  static final int INVALID_USAGE = 5;

  /**
   * ncclRemoteError: the peer or the network to it failed; NCCL then suggests to look at other
   * ranks.
   */
  static final int REMOTE_ERROR = 6;

  private NcclResult() {}

  /**
   * The result for a request that failed. A fabric error counts as a remote error, since most
   * likely the path to the peer is lost.
   */
  static int ofRequest(FailureCause cause) {
    return cause == FailureCause.FABRIC ? REMOTE_ERROR : of(cause);
  }

  /** The result for a failure of the transport. */
  static int of(FailureCause cause) {
    return switch (cause) {
      case PEER_LOST,
          TIMED_OUT,
          PEER_ABORTED,
          PEER_CLOSED,
          PROTOCOL_VIOLATION,
          REFUSED,
          INCOMPATIBLE ->
          REMOTE_ERROR;
      case FABRIC, EXHAUSTED, UNAVAILABLE -> SYSTEM_ERROR;
      case ABORTED, CLOSED, INTERRUPTED -> INTERNAL_ERROR;
      // As NCCL's own Socket has it.
      case TRUNCATED -> INVALID_USAGE;
    };
  }

  /** The result for an exception. */
  static int of(Throwable thrown) {
    return switch (thrown) {
      case TransportException failed -> of(failed.failure().cause());
      case FabricException _, FabricUnavailableException _, OutOfMemoryError _ -> SYSTEM_ERROR;
      case IllegalArgumentException _ -> INVALID_ARGUMENT;
      default -> INTERNAL_ERROR;
    };
  }
}
