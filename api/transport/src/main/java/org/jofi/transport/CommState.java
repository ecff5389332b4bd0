package org.jofi.transport;

/** Where a communicator is in its life. */
public enum CommState {
  /** Requests may be posted. */
  OPEN,
  /** It failed; posting still succeeds, and each request reports the failure. */
  FAILED,
  /** Being closed or aborted, with a bound. */
  CLOSING,
  /** Gone. */
  CLOSED
}
