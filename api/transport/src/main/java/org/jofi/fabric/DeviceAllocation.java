package org.jofi.fabric;

import java.util.Objects;

/**
 * The allocation that an address lies in.
 *
 * @param kind where it lives; {@link MemoryKind#HOST} for pinned host memory
 * @param device ordinal of the device that owns it; 0 for host memory
 * @param address its first byte
 * @param lengthBytes its length
 * @param id its number. The driver never uses it again in this process, so that two allocations at
 *     the same address have different ones
 */
public record DeviceAllocation(
    MemoryKind kind, int device, long address, long lengthBytes, long id) {

  /** Checks that there is a kind. */
  public DeviceAllocation {
    Objects.requireNonNull(kind);
  }

  /**
   * {@return whether a range lies within it}
   *
   * @param from address of the range's first byte
   * @param bytes the range's length, 0 or more; a negative one never lies within it
   */
  public boolean covers(long from, long bytes) {
    return from >= address && bytes >= 0 && from - address <= lengthBytes - bytes;
  }
}
