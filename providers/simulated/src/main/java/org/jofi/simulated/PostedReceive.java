package org.jofi.simulated;

import org.jspecify.annotations.Nullable;

/** A buffer that waits for a message. */
final class PostedReceive {
  final long address;
  final long length;
  final @Nullable RegisteredMemory region;
  final long peer;
  final int context;

  PostedReceive(
      long address, long length, @Nullable RegisteredMemory region, long peer, int context) {
    this.address = address;
    this.length = length;
    this.region = region;
    this.peer = peer;
    this.context = context;
  }
}
