package org.jofi.simulated.trace;

/** The kinds of lines in the trace. */
public enum TraceKind {
  /** An operation was posted: serial, operation, length. */
  POST,
  /** A post was refused: operation, errno, context. */
  REFUSED,
  /** A transfer reached a stage: serial, stage, landing. */
  STAGE,
  /** A completion was delivered: queue, context, length or errno. */
  COMPLETION,
  /** A fault happened: fault, how often so far. */
  FAULT,
  /** An object was opened: serial, kind. */
  OPEN,
  /** An object was closed: serial, kind. */
  CLOSE;

  /** Its number, used in arrays and traces. */
  @SuppressWarnings("EnumOrdinal")
  int number() {
    return ordinal();
  }
}
