package org.jofi.cli.perf;

/** What is measured. */
public enum PerfOperation {
  /** Messages: isend, irecv. Latency is half of a ping and its pong. */
  SEND,
  /** One-sided writes. Latency is from posting to completion. */
  WRITE,
  /** One-sided reads. Latency is from posting to completion. */
  READ,
  /** Flushes of what was received, also of host memory. Latency is from posting to completion. */
  FLUSH
}
