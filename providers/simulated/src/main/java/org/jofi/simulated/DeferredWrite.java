package org.jofi.simulated;

/** Data for device memory that waits in the NIC for a flush. It owns its staging block. */
record DeferredWrite(RegisteredMemory region, long staged, long to, long bytes) {

  /** Lands it, unless the region is gone, and frees the block. */
  void land(Staging staging) {
    if (region.isOpen()) {
      ProcessMemory.copy(staged, to, bytes);
    }
    staging.give(staged, bytes);
  }
}
