package org.jofi.simulated;

/** What a line of the trace tells. */
enum TraceKind {
  /** An operation was posted: serial, operation, length. */
  POST,
  /** A post was refused: operation, errno, context. */
  REFUSED,
  /** A transfer reached a stage: serial, stage, landing. */
  STAGE,
  /** A completion was delivered: queue, context, length or errno. */
  COMPLETION,
  /** A fault struck: fault, how often. */
  FAULT,
  /** An object was opened: serial, kind. */
  OPEN,
  /** An object was closed: serial, kind. */
  CLOSE;

  /** Its number: arrays and traces go by it. */
  @SuppressWarnings("EnumOrdinal")
  int number() {
    return ordinal();
  }
}
