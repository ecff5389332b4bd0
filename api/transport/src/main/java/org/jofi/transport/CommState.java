package org.jofi.transport;

/** The state of a communicator. */
public enum CommState {
  /** Requests may be posted. */
  OPEN,
  /** It failed; posting still succeeds, and each request reports the failure. */
  FAILED,
  /** It is being closed or aborted, which has a time limit. */
  CLOSING,
  /** It is closed. */
  CLOSED
}
