package org.jofi.simulated.engine;

import org.jofi.fabric.CompletionFlags;

/** The kinds of operations, with the flags of their completions. */
public enum TransferKind {
  SEND(CompletionFlags.MSG | CompletionFlags.SEND, "fi_send"),
  INJECT(CompletionFlags.MSG | CompletionFlags.SEND, "fi_inject"),
  WRITE(CompletionFlags.RMA | CompletionFlags.WRITE, "fi_write"),
  READ(CompletionFlags.RMA | CompletionFlags.READ, "fi_read");

  final long flags;
  final String call;

  TransferKind(long flags, String call) {
    this.flags = flags;
    this.call = call;
  }

  boolean isMessage() {
    return this == SEND || this == INJECT;
  }

  /** Its number, used in arrays and traces. */
  @SuppressWarnings("EnumOrdinal")
  int number() {
    return ordinal();
  }
}
