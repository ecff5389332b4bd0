package org.jofi.simulated;

/** Data for device memory that the NIC holds back until a flush. It owns its staging block. */
record DeferredWrite(RegisteredMemory region, long staged, long to, long bytes) {

  /** Writes the data to memory, unless the region is closed, and frees the block. */
  void land(Staging staging) {
    if (region.isOpen()) {
      ProcessMemory.copy(staged, to, bytes);
    }
    staging.give(staged, bytes);
  }
}
