package org.jofi.mr.teardown;

/**
 * The operations that a multi-rail endpoint has posted, for its teardown. The thread of the
 * teardown calls it, under the endpoint's lock if it has one. Its methods must not throw: an abort
 * has to go on even if something is broken. The operations of a broken queue simply stay in flight.
 */
public interface InFlightOperations {

  /** Asks the providers to cancel posted receives: fi_cancel. */
  void cancelReceives();

  /** Asks the providers to cancel all posted operations: fi_cancel. */
  void cancelAll();

  /**
   * Drives progress once, without waiting.
   *
   * @return how many operations have not completed yet
   */
  int poll();

  /** Names the operations that have not completed, for error messages. */
  String describe();
}
