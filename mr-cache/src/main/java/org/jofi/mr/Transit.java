package org.jofi.mr;

import org.jofi.fabric.MemoryKind;

/**
 * A registration that is being made or closed right now, by a thread outside of the cache's lock.
 *
 * @param space whose it is
 * @param range its memory
 * @param access what for
 * @param opening whether it is being made
 */
record Transit(CacheSpace space, BufferRange range, long access, boolean opening) {

  /** Whether it will serve that request once it is made. */
  boolean willServe(CacheSpace wanted, BufferRange part, long wantedAccess) {
    long offset = part.address() - range.address();
    return opening
        && space == wanted
        && (access & wantedAccess) == wantedAccess
        && CacheSpace.code(range) == CacheSpace.code(part)
        && range.allocationId() == part.allocationId()
        && offset >= 0
        && offset <= range.lengthBytes() - part.lengthBytes();
  }

  /** Whether it shares a byte with the memory. */
  boolean touches(MemoryKind kind, int device, long first, long last) {
    long from = IntervalIndex.order(range.address());
    return CacheSpace.place(range.kind(), range.device()) == CacheSpace.place(kind, device)
        && from <= last
        && from + range.lengthBytes() - 1 >= first;
  }
}
