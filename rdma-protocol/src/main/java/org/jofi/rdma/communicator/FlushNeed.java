package org.jofi.rdma.communicator;

import org.jofi.fabric.MemoryKind;
import org.jofi.transport.FlushPolicy;

/**
 * Whether received bytes have to be read through the NICs before they can be relied upon.
 *
 * @param policy as configured
 */
record FlushNeed(FlushPolicy policy) {
  /** For memory of that kind. */
  boolean isNeeded(MemoryKind kind) {
    return switch (policy) {
      case AUTO -> kind != MemoryKind.HOST;
      case ALWAYS -> true;
      case NEVER -> false;
    };
  }

  /** Why, or why not, in a sentence. */
  String reason(MemoryKind kind) {
    return switch (policy) {
      case AUTO ->
          kind == MemoryKind.HOST
              ? "not flushed: completions of host memory imply that it is visible"
              : "flushed: writes to %s memory may still be on the bus at completion"
                  .formatted(kind);
      case ALWAYS -> "flushed: as configured, for all memory";
      case NEVER -> "not flushed: as configured, something else makes the data visible";
    };
  }
}
