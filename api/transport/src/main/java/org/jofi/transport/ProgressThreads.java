package org.jofi.transport;

/**
 * Whether endpoints have a thread each that drives them, besides those that call {@link Comm#test}.
 * Such an endpoint has a domain of its own as well, so that nothing below it is waited for.
 */
public enum ProgressThreads {
  /**
   * Where the processor moves the data, through sockets or shared memory, and this process may use
   * at least 16 processors: one thread that both sends and receives is then what limits the
   * bandwidth.
   */
  AUTO,
  /** On every device. */
  ALWAYS,
  /** On none: who calls {@link Comm#test} and {@link Comm#progress} drives. */
  NEVER
}
