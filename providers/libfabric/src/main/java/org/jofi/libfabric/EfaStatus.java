package org.jofi.libfabric;

import org.jofi.fabric.FabricErrno;

/**
 * The efa NIC's status of an operation that failed: efa_io_comp_status, which the provider passes
 * on as prov_errno. From libfabric 1.22 on, the provider's error number follows from it. Before
 * that it is FI_EIO whatever happened, so that a rail that died looks like a fault that may pass,
 * and every repetition on it takes as long as the NIC waits for an answer. A queue pair in its
 * error state looks like that in all versions: each operation on it is flushed.
 */
final class EfaStatus {
  private static final int FLUSHED = 1;
  private static final int QUEUE_PAIR_FAILED = 2;
  private static final int REMOTE_ABORT = 8;
  private static final int REMOTE_BAD_QUEUE_PAIR = 9;
  private static final int REMOTE_UNRESPONSIVE = 13;
  private static final int REMOTE_DOES_NOT_KNOW_US = 14;
  private static final int REMOTE_UNREACHABLE = 15;

  private EfaStatus() {}

  /**
   * The error number that tells what became of the rail: the newer libraries', where they tell it.
   *
   * @param errno the library's, positive
   * @param status prov_errno
   */
  static int errno(int errno, int status) {
    boolean old = errno == FabricErrno.EIO;
    if ((status == FLUSHED && (old || errno == FabricErrno.ECANCELED))
        || (status == QUEUE_PAIR_FAILED && (old || errno == FabricErrno.EINVAL))) {
      return FabricErrno.ESHUTDOWN;
    }
    if (!old) {
      return errno;
    }
    return switch (status) {
      case REMOTE_ABORT, REMOTE_UNRESPONSIVE -> FabricErrno.ECONNABORTED;
      case REMOTE_BAD_QUEUE_PAIR, REMOTE_DOES_NOT_KNOW_US -> FabricErrno.ENOTCONN;
      case REMOTE_UNREACHABLE -> FabricErrno.EHOSTUNREACH;
      default -> errno;
    };
  }
}
