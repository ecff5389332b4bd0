package org.jofi.simulated.workload;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A message or a write, recorded by its sender so that the receiver can check it. */
final class Transmission {
  /** The slot of a message, which has none. */
  static final int NO_SLOT = -1;

  final int id;
  final int from;
  final int to;
  final int rail;
  final long bytes;

  /** Where a write goes; null for a message. */
  final @Nullable MemorySegment place;

  /** The slot in the receiver's window that the sender writes to. */
  final int slot;

  /** Whether the receiver gets a completion for it. */
  final boolean announced;

  boolean sent;
  boolean failed;

  /** Whether its data was seen completely; after that its place may contain other data. */
  boolean seen;

  int arrivals;

  Transmission(
      int id,
      int from,
      int to,
      int rail,
      long bytes,
      @Nullable MemorySegment place,
      int slot,
      boolean announced) {
    this.id = id;
    this.from = from;
    this.to = to;
    this.rail = rail;
    this.bytes = bytes;
    this.place = place;
    this.slot = slot;
    this.announced = announced;
  }

  /**
   * The offset at which its data at the target differs; -1 if it does not, or if it is a message.
   */
  long mismatch() {
    MemorySegment memory = place;
    return memory == null ? -1 : Pattern.mismatch(memory, id, 0);
  }

  @Override
  public String toString() {
    return "%s %d of %d B from rank %d to rank %d on rail %d"
        .formatted(place == null ? "message" : "write", id, bytes, from, to, rail);
  }
}
