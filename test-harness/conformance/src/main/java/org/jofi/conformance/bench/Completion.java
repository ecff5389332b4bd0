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

  /**
   * Whether it tells of immediate data that came with a peer's write. Of other arrivals only a
   * receive's completion has such data.
   */
  public boolean isArrival() {
    return !failed && CompletionFlags.bringsData(flags) && (flags & CompletionFlags.RECV) == 0;
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
