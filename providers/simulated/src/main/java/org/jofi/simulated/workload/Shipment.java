package org.jofi.simulated.workload;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A message or a write, as its sender noted it where the receiver can look. */
final class Shipment {
  /** Stands for a slot that is none. */
  static final int NO_SLOT = -1;

  final int id;
  final int from;
  final int to;
  final int rail;
  final long bytes;

  /** Where a write goes; null for a message. */
  final @Nullable MemorySegment place;

  /** Which of the sender's slots in the receiver's window that is. */
  final int slot;

  /** Whether the receiver is told of it. */
  final boolean announced;

  boolean sent;
  boolean failed;

  /** Whether its data was seen whole, so that its place may hold something else by now. */
  boolean seen;

  int arrivals;

  Shipment(
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

  /** Where its data at the target differs; -1 if nowhere, or if it is a message. */
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
