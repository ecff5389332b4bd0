package org.jofi.rdma.endpoint;

import java.util.Set;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.PostFlags;

/** What a plain write's completion says, where providers differ. */
public final class WriteCompletions {
  /** Complete a plain write once its bytes are in a socket's buffer. Named as the core provider. */
  private static final Set<String> OVER_SOCKETS = Set.of("net", "tcp", "sockets");

  private WriteCompletions() {}

  /**
   * Flags, bits of {@link PostFlags}, with which a write completes no sooner than the peer read it
   * from its connection. A side tells that it closed once its writes are complete, and the peer
   * takes its memory back then; over another connection that may be read before the writes. A write
   * that comes to a region that is closed is worse than lost: these providers shut the connection
   * with all that others have in it, and what was complete already is not told to have failed.
   *
   * <p>Other providers complete a write when the peer's NIC has it.
   */
  public static long flags(FabricInfo nic) {
    // What it is layered under, as in tcp;ofi_rxm, comes behind it.
    String core = nic.provider().split(";", 2)[0];
    return OVER_SOCKETS.contains(core) ? PostFlags.DELIVERY_COMPLETE : PostFlags.NONE;
  }
}
