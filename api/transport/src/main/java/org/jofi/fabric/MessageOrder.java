package org.jofi.fabric;

/**
 * Orders that a provider keeps between operations to one peer: fi_endpoint(3), "message ordering".
 * {@code WAR} means "write after read": a write does not overtake an earlier read. Reads and writes
 * are RMA and atomic operations, but in the orders {@code RMA_} they are RMA operations only.
 */
public enum MessageOrder {
  /** Read after read: a read does not overtake an earlier one. */
  RAR,
  /** Read after write: a read does not overtake an earlier write. */
  RAW,
  /** Read after send: a read does not overtake an earlier send. */
  RAS,
  /** Write after read: a write does not overtake an earlier read. */
  WAR,
  /** Write after write: a write does not overtake an earlier one. */
  WAW,
  /** Write after send: a write does not overtake an earlier send. */
  WAS,
  /** Send after read: a send does not overtake an earlier read. */
  SAR,
  /** Send after write: a send does not overtake an earlier write. */
  SAW,
  /** Send after send: a send does not overtake an earlier one. */
  SAS,
  /** Read after read, of RMA operations only: atomic ones are not included. */
  RMA_RAR,
  /** Read after write, of RMA operations only: atomic ones are not included. */
  RMA_RAW,
  /** Write after read, of RMA operations only: atomic ones are not included. */
  RMA_WAR,
  /** Write after write, of RMA operations only: atomic ones are not included. */
  RMA_WAW
}
