package org.jofi.mr.cache;

/** Why the cache closed a registration. */
enum CloseReason {
  /** It was idle, and a budget was exceeded or another registration ran out of resources. */
  EVICTED,
  /**
   * It was idle and is not kept: it was superseded, its allocation is unknown, or the cache is off.
   */
  RELEASED,
  /** Its memory was freed: its arena closed, or was collected. */
  FREED,
  /** Its memory is about to be freed. */
  INVALIDATED,
  /** Its endpoint or device is closing. */
  PURGED
}
