package org.jofi.mr;

import org.jofi.fabric.MemoryKind;
import org.jspecify.annotations.Nullable;

/**
 * Regions that are being made or closed right now, by a thread outside of the cache's lock.
 *
 * @param what which of these
 * @param space whose they are
 * @param range their memory
 * @param access what for; 0 while they are being closed
 * @param owner whose own registration they become, or null
 */
record Transit(
    What what,
    CacheSpace space,
    BufferRange range,
    long access,
    @Nullable EndpointRegistrations owner) {

  /** Which way regions go. */
  enum What {
    /** A data registration is being made, which others may share. */
    SHARED_OPENING,
    /** An endpoint's own mailbox or pool is being made. */
    OWN_OPENING,
    /** Regions are being closed. */
    CLOSING
  }

  static Transit sharedOpening(CacheSpace space, BufferRange range, long access) {
    return new Transit(What.SHARED_OPENING, space, range, access, null);
  }

  static Transit ownOpening(
      EndpointRegistrations owner, CacheSpace space, BufferRange range, long access) {
    return new Transit(What.OWN_OPENING, space, range, access, owner);
  }

  static Transit closing(CacheSpace space, BufferRange range) {
    return new Transit(What.CLOSING, space, range, 0, null);
  }

  boolean isClosing() {
    return what == What.CLOSING;
  }

  /** Whether it will serve that request once it is made. */
  boolean willServe(CacheSpace wanted, BufferRange part, long wantedAccess) {
    long offset = part.address() - range.address();
    return what == What.SHARED_OPENING
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
