package org.jofi.rdma.endpoint;

import java.util.Set;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.PostFlags;

/** What the completion of a plain write says, where providers differ. */
public final class WriteCompletions {
  /** Core providers that complete a plain write once its bytes are in a socket's buffer. */
  private static final Set<String> OVER_SOCKETS = Set.of("net", "tcp");

  private WriteCompletions() {}

  /**
   * Whether a write that is complete may still be on its way to the peer.
   *
   * <p>A process sends CLOSE or CLOSED once its writes are complete, and the peer takes its memory
   * back when they have arrived. That message may go over another connection and be read before the
   * writes. If a write then names a region that is closed, these providers shut the connection,
   * with everything that other communicators have in it. Writes that were complete already are not
   * reported as failed. So the message says how many writes there were, and the peer waits for
   * them.
   *
   * <p>Other providers complete a write when the peer's NIC has it; efa before that, where it
   * emulates writes by packets.
   */
  public static boolean mayBeOnTheirWay(FabricInfo nic) {
    // A provider that is layered on another one comes behind it, as in tcp;ofi_rxm.
    return OVER_SOCKETS.contains(nic.provider().split(";", 2)[0]);
  }

  /** Flags, bits of {@link PostFlags}, with which a write completes when the peer has it. */
  public static long whenDelivered(FabricInfo nic) {
    return mayBeOnTheirWay(nic) ? PostFlags.DELIVERY_COMPLETE : PostFlags.NONE;
  }
}
