package org.jofi.rdma.endpoint;

import java.util.Set;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.PostFlags;

/** What a plain write's completion says, where providers differ. */
public final class WriteCompletions {
  /** Core providers that complete a plain write once its bytes are in a socket's buffer. */
  private static final Set<String> OVER_SOCKETS = Set.of("net", "tcp");

  private WriteCompletions() {}

  /**
   * Returns flags, bits of {@link PostFlags}, with which a write does not complete before the peer
   * has read it from its connection.
   *
   * <p>A process sends CLOSED once its writes are complete, and the peer takes its memory back when
   * it reads that. CLOSED may go over another connection and be read before the writes. If a write
   * then names a region that is closed, these providers shut the connection, with everything that
   * other communicators have in it. Writes that were complete already are not reported as failed.
   *
   * <p>Other providers complete a write when the peer's NIC has it.
   */
  public static long flags(FabricInfo nic) {
    // What it is layered under, as in tcp;ofi_rxm, comes behind it.
    String core = nic.provider().split(";", 2)[0];
    return OVER_SOCKETS.contains(core) ? PostFlags.DELIVERY_COMPLETE : PostFlags.NONE;
  }
}
