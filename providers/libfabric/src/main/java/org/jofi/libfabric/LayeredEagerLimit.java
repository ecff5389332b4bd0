package org.jofi.libfabric;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The variable that sets up to which length ofi_rxm over tcp sends a message at once, and not after
 * a handshake of its own. ofi_rxm reads it whenever an endpoint is opened (rxm_ep_init_proto), so
 * the process's environment has it only that long: its children, and others in it, see none that
 * they did not set. Both sides of a connection must have the same length.
 *
 * <p>Libfabric reads it from 1.13 to 1.17; since then tcp places no messages of ofi_rxm in the
 * receiver's buffers (OFI_OPS_DYNAMIC_RBUF), and a user's setting counts for nothing.
 */
final class LayeredEagerLimit {
  static final String VARIABLE = "FI_OFI_RXM_EAGER_LIMIT";

  /** As much as a packet of short messages takes, in bytes. */
  static final String BYTES = "65536";

  /** Endpoints may be opened by several threads; the environment is one. */
  private static final ReentrantLock LOCK = new ReentrantLock();

  private LayeredEagerLimit() {}

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
   * Opens an endpoint while it is set; for other providers and libraries, or if the user has set
   * it, nothing is set.
   *
   * @param library the version, as FI_VERSION has it
   */
  static <T> T during(String provider, int library, Supplier<T> opening) {
    // Endpoints of other providers do not wait for each other.
    if (!LibfabricTraits.isLayeredOverSockets(provider) || !isRead(library)) {
      return opening.get();
    }
    LOCK.lock();
    try {
      boolean offered = LibC.offerVariable(VARIABLE, BYTES);
      try {
        return opening.get();
      } finally {
        if (offered) {
          LibC.withdrawVariable(VARIABLE);
        }
      }
    } finally {
      LOCK.unlock();
    }
  }

  private static boolean isRead(int library) {
    return library >= LibfabricLibrary.version(1, 13) && library < LibfabricLibrary.version(1, 18);
  }
}
