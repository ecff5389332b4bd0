package org.jofi.conformance.bench;

import java.lang.foreign.MemorySegment;
import org.jofi.fabric.Addressing;
import org.jofi.fabric.MemoryRegion;

/**
 * Registered memory of a side.
 *
 * @param side whose it is
 * @param memory the memory, which the bench owns
 * @param region its registration, which the side closes
 */
public record Buffer(Peer side, MemorySegment memory, MemoryRegion region) {
  /** Its first byte, for posting calls. */
  public long address() {
    return memory.address();
  }

  /** For posting calls. */
  public long descriptor() {
    return region.descriptor();
  }

  /** Where peers find its first byte. */
  public Target target() {
    return new Target(
        side.info().addressing() == Addressing.VIRTUAL ? region.request().address() : 0,
        region.key());
  }

  /** A piece of its memory. */
  public MemorySegment piece(long offset, long bytes) {
    return memory.asSlice(offset, bytes);
  }

  /** Fills the first bytes. */
  public void fill(long bytes, long seed) {
    Bytes.fill(piece(0, bytes), seed);
  }

  /** Marks all of it, to see later what was written to it. */
  public void clear() {
    Bytes.clear(memory);
  }
}
