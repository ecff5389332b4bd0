package org.jofi.transport;

/**
 * The limits of a device, which do not change. Any thread.
 *
 * <p>Only the transport implements it, so that it may get further methods.
 */
public interface DeviceLimits {

  /** {@return the longest message or one-sided operation, in bytes} */
  long maxMessageBytes();

  /** {@return the longest {@link Comm#iwriteInline}, in bytes} */
  int inlineWriteBytes();

  /**
   * {@return the longest message from host memory, in bytes, that may leave before its receive was
   * announced, if the peer's device allows as much; 0 if none may} See {@link Tuning#eagerBytes}.
   */
  int eagerBytes();

  /**
   * {@return how many communicators may be open at once on one endpoint of the device, and so how
   * many of the device there is room for in any case: which endpoint gets the next one is up to
   * turns, and all that a listener accepts are of one}
   */
  int communicators();

  /** {@return how many receives may be in flight per communicator, each of a group for itself} */
  int receivesInFlight();

  /** {@return how many sends may be in flight per communicator} */
  int sendsInFlight();

  /** {@return how many receives a group may have} */
  int groupedReceives();
}
