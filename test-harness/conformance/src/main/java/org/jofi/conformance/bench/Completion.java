package org.jofi.conformance.bench;

import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;

/**
 * A completion, noted.
 *
 * @param context the slot
 * @param flags {@link CompletionFlags}
 * @param lengthBytes as reported
 * @param data immediate data
 * @param failed whether it came as an error
 * @param errno the error as reported; 0 for a success
 * @param text the provider's words for it
 */
public record Completion(
    int context, long flags, long lengthBytes, long data, boolean failed, int errno, String text) {

  /** Whether it tells of immediate data that came with a peer's write. */
  public boolean isArrival() {
    boolean own =
        (flags
                & (CompletionFlags.SEND
                    | CompletionFlags.RECV
                    | CompletionFlags.READ
                    | CompletionFlags.WRITE))
            != 0;
    return !failed && !own && (flags & CompletionFlags.REMOTE_CQ_DATA) != 0;
  }

  @Override
  public String toString() {
    String slot = context == CompletionQueue.NO_CONTEXT ? "no slot" : "slot " + context;
    return failed
        ? "%s failed with %s (%d)%s"
            .formatted(
                slot,
                errno > 0 ? FabricErrno.name(errno) : "errno",
                errno,
                text.isEmpty() ? "" : ", " + text)
        : "%s: flags 0x%x, %d bytes, data 0x%x".formatted(slot, flags, lengthBytes, data);
  }
}
