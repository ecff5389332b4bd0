package org.jofi.rdma.operation;

/** What is known of an operation that failed. */
public enum Certainty {
  /** It was never taken: nothing of it happened, or will. */
  NOT_EXECUTED,

  /** It was posted: some or all of it may have happened, or may happen yet. */
  UNKNOWN,

  /** It was posted: some or all of it may have happened, and nothing more will. */
  OVER
}
