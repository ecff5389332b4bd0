package org.jofi.transport;

/**
 * The limits of a device, which do not change. Any thread.
 *
 * @apiNote only the transport implements it, so that it may get further methods.
 */
public interface DeviceLimits {

  /** The longest message or one-sided operation, in bytes. */
  long maxMessageBytes();

  /** The longest {@link Comm#iwriteInline}, in bytes. */
  int inlineWriteBytes();

  /**
   * The longest message from host memory, in bytes, that may leave before its receive was
   * announced, if the peer's device allows as much; 0 if none may. See {@link
   * TransportOptions#eagerBytes}.
   */
  int eagerBytes();

  /** How many communicators may be open at once. */
  int communicators();

  /** How many receives may be in flight per communicator, each of a group for itself. */
  int receivesInFlight();

  /** How many sends may be in flight per communicator. */
  int sendsInFlight();

  /** How many receives a group may have. */
  int groupedReceives();
}
