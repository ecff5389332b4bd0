package org.jofi.transport;

/**
 * Whether each endpoint has a thread of its own that makes progress, in addition to the callers of
 * {@link Comm#test}. Such an endpoint also has a domain of its own, so that its thread does not
 * wait for locks of other endpoints in the provider.
 */
public enum ProgressThreads {
  /**
   * On devices where the CPU copies the data, through sockets or shared memory, if this process may
   * use at least 16 CPUs. There a single thread that both sends and receives would limit the
   * bandwidth.
   */
  AUTO,
  /** On every device. */
  ALWAYS,
  /** On no device: only calls of {@link Comm#test} and {@link Comm#progress} make progress. */
  NEVER
}
