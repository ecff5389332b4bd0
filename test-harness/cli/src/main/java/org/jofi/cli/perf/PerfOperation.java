package org.jofi.cli.perf;

/** What is measured. */
public enum PerfOperation {
  /** Messages: isend, irecv. Latency is half of a round trip. */
  SEND,
  /** One-sided writes. Latency is from posting to completion. */
  WRITE,
  /** One-sided reads. Latency is from posting to completion. */
  READ,
  /** Flushes of received data, including host memory. Latency is from posting to completion. */
  FLUSH
}
