package org.jofi.mr.cache;

import org.jofi.fabric.MemoryKind;
import org.jofi.mr.registration.BufferRange;
import org.jspecify.annotations.Nullable;

/**
 * Regions that a thread is making or closing right now. It does so without the cache's lock, so
 * this entry lets other threads wait for it.
 *
 * @param what whether they are being made or closed
 * @param space the space that they belong to
 * @param range their memory
 * @param access their access; 0 while they are being closed
 * @param owner the endpoint whose own registration they become, or null
 */
record Transition(
    What what,
    CacheSpace space,
    BufferRange range,
    long access,
    @Nullable RegistrationOwner owner) {

  /** What is happening to the regions. */
  enum What {
    /** They become a data registration, which others may share. */
    SHARED_OPENING,
    /** They become an endpoint's own control or local registration. */
    OWN_OPENING,
    /** They are being closed. */
    CLOSING
  }

  static Transition sharedOpening(CacheSpace space, BufferRange range, long access) {
    return new Transition(What.SHARED_OPENING, space, range, access, null);
  }

  static Transition ownOpening(
      RegistrationOwner owner, CacheSpace space, BufferRange range, long access) {
    return new Transition(What.OWN_OPENING, space, range, access, owner);
  }

  static Transition closing(CacheSpace space, BufferRange range) {
    return new Transition(What.CLOSING, space, range, 0, null);
  }

  boolean isClosing() {
    return what == What.CLOSING;
  }

  /** Whether the registration can serve this request once it is made. */
  boolean willServe(CacheSpace wanted, BufferRange part, long wantedAccess) {
    long offset = part.address() - range.address();
    return what == What.SHARED_OPENING
        && space == wanted
        && (access & wantedAccess) == wantedAccess
        && CacheSpace.code(range) == CacheSpace.code(part)
        && range.isOfSameAllocation(part)
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
