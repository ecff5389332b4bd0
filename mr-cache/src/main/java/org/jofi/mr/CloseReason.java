package org.jofi.mr;

/** Why the cache closed a registration. */
enum CloseReason {
  /** Idle, and past a budget or in the way of a registration that failed for want of resources. */
  EVICTED,
  /** Idle, and not to be kept: superseded, of an unknown allocation, or the cache is off. */
  RELEASED,
  /** Its memory goes away. */
  INVALIDATED,
  /** Its endpoint or device closes. */
  PURGED
}
