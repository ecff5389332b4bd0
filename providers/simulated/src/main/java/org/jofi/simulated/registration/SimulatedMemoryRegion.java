package org.jofi.simulated.registration;

import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;

/** A region that can be used. */
public final class SimulatedMemoryRegion implements MemoryRegion {
  private final RegisteredMemory memory;

  public SimulatedMemoryRegion(RegisteredMemory memory) {
    this.memory = memory;
  }

  @Override
  public RegionRequest request() {
    return memory.request();
  }

  @Override
  public long descriptor() {
    memory.life().requireOpen("fi_mr_desc");
    return memory.descriptor();
  }

  @Override
  public long key() {
    memory.life().requireOpen("fi_mr_key");
    return memory.key("fi_mr_key");
  }

  @Override
  public void close() {
    memory.close();
  }

  @Override
  public String toString() {
    return memory.life().label();
  }
}
