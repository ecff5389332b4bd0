package org.jofi.nccl;

import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;

/** What the functions of the plugin return: ncclResult_t. */
final class NcclResult {
  /** ncclSuccess. */
  static final int SUCCESS = 0;

  /** ncclSystemError: this machine, its NICs or its memory. */
  static final int SYSTEM_ERROR = 2;

  /** ncclInternalError: a defect, here or in the caller. */
  static final int INTERNAL_ERROR = 3;

  /** ncclInvalidArgument. */
  static final int INVALID_ARGUMENT = 4;

  /** ncclInvalidUsage: a call at the wrong time. */
  static final int INVALID_USAGE = 5;

  /** ncclRemoteError: the peer, or the network to it; NCCL suggests to look at other ranks. */
  static final int REMOTE_ERROR = 6;

  private NcclResult() {}

  /**
   * The result that the failure of a request is. A NIC that cannot carry one out has lost the way
   * to the peer, as far as anybody can tell.
   */
  static int ofRequest(FailureCause cause) {
    return cause == FailureCause.FABRIC ? REMOTE_ERROR : of(cause);
  }

  /** The result that a failure of the transport is. */
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
      case ABORTED, CLOSED -> INTERNAL_ERROR;
    };
  }

  /** The result that an exception is. */
  static int of(Throwable thrown) {
    return switch (thrown) {
      case TransportException failed -> of(failed.failure());
      case FabricException _, FabricUnavailableException _, OutOfMemoryError _ -> SYSTEM_ERROR;
      case IllegalArgumentException _ -> INVALID_ARGUMENT;
      default -> INTERNAL_ERROR;
    };
  }
}
