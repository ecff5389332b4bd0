package org.jofi.mr;

/**
 * The operations that a multi-rail endpoint has posted, as its teardown sees them. Called by the
 * thread that tears down, under the endpoint's lock if it has one. Must not throw: an abort has to
 * go on whatever is broken, and operations of a broken queue simply stay in flight.
 */
public interface InFlightOperations {

  /** Asks the providers to drop posted receives: fi_cancel. */
  void cancelReceives();

  /** Asks the providers to drop all posted operations: fi_cancel. */
  void cancelAll();

  /**
   * Drives progress once, without waiting.
   *
   * @return how many operations have not completed yet
   */
  int poll();

  /** Names what has not completed, for errors. */
  String describe();
}
