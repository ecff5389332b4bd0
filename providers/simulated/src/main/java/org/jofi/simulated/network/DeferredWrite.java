package org.jofi.simulated.network;

import org.jofi.simulated.memory.ProcessMemory;
import org.jofi.simulated.memory.Staging;

/** Data for device memory that the NIC holds back until a flush. It owns its staging block. */
public record DeferredWrite(Lifecycle region, long staged, long to, long bytes) {

  /** Writes the data to memory, unless the region is closed, and frees the block. */
  public void land(Staging staging) {
    if (region.isOpen()) {
      ProcessMemory.copy(staged, to, bytes);
    }
    staging.give(staged, bytes);
  }
}
