package org.jofi.conformance.bench;

/**
 * A place in a peer's memory.
 *
 * @param address as the peer's {@link org.jofi.fabric.FabricInfo#addressing()} has it
 * @param key the region's
 */
public record Target(long address, long key) {
  /** Some bytes further. */
  public Target plus(long bytes) {
    return new Target(address + bytes, key);
  }
}
