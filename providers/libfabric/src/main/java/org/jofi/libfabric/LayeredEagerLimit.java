package org.jofi.libfabric;

import java.util.concurrent.locks.ReentrantLock;

/**
 * The variable that sets up to which length ofi_rxm over tcp sends a message at once, and not after
 * a handshake of its own. ofi_rxm reads it whenever an endpoint is opened (rxm_ep_init_proto), so
 * the process's environment has it only that long: its children, and others in it, see none that
 * they did not set. Both sides of a connection must have the same length.
 *
 * <p>Libfabric reads it from 1.13 to 1.17; since then tcp places no messages of ofi_rxm in the
 * receiver's buffers (OFI_OPS_DYNAMIC_RBUF), and a user's setting counts for nothing.
 */
final class LayeredEagerLimit implements AutoCloseable {
  static final String VARIABLE = "FI_OFI_RXM_EAGER_LIMIT";

  /** As much as a packet of short messages takes, in bytes. */
  static final String BYTES = "65536";

  /** Endpoints may be opened by several threads; the environment is one. */
  private static final ReentrantLock LOCK = new ReentrantLock();

  private final boolean withdraws;

  private LayeredEagerLimit(boolean withdraws) {
    this.withdraws = withdraws;
  }

  /**
   * Whether packets of short messages are sent at once: not if the user has set another length.
   *
   * @param library the version, as FI_VERSION has it
   */
  static boolean isLong(int library) {
    String set = LibC.variable(VARIABLE);
    return isRead(library) && (set.isEmpty() || set.equals(BYTES));
  }

  /**
   * Sets it for an endpoint that is about to be opened, until this is closed; does nothing for
   * other providers and libraries, or if the user has set it.
   *
   * @param library the version, as FI_VERSION has it
   */
  static LayeredEagerLimit offer(String provider, int library) {
    LOCK.lock();
    return new LayeredEagerLimit(
        LibfabricTraits.isLayeredOverSockets(provider)
            && isRead(library)
            && LibC.offerVariable(VARIABLE, BYTES));
  }

  @Override
  public void close() {
    try {
      if (withdraws) {
        LibC.withdrawVariable(VARIABLE);
      }
    } finally {
      LOCK.unlock();
    }
  }

  private static boolean isRead(int library) {
    return library >= LibfabricLibrary.version(1, 13) && library < LibfabricLibrary.version(1, 18);
  }
}
