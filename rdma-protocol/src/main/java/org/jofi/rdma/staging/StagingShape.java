package org.jofi.rdma.staging;

import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.ProtocolLimits;

/**
 * How device memory is staged.
 *
 * @param chunkShift logarithm of a chunk's bytes, 6 to 30
 * @param chunks chunks of a message under way at once, 1 to 8
 * @param smallBytes messages up to this take one small block, of this length; at most a chunk
 */
public record StagingShape(int chunkShift, int chunks, int smallBytes) {
  /** Chunks of 1 MiB, four under way at once, small blocks of 64 KiB. */
  public static final StagingShape USUAL = new StagingShape(20, 4, 64 * 1024);

  public StagingShape {
    if (chunkShift < MailboxLayout.LEAST_SHIFT
        || chunkShift > MailboxLayout.MOST_SHIFT
        || chunks < 1
        || chunks > ProtocolLimits.MAX_GROUP
        || smallBytes < 1
        || smallBytes > 1 << chunkShift) {
      throw new IllegalArgumentException(
          "cannot stage through %d chunks of 2^%d bytes, or a small block of %d"
              .formatted(chunks, chunkShift, smallBytes));
    }
  }

  public int chunkBytes() {
    return 1 << chunkShift;
  }

  /** As {@link org.jofi.transport.DeviceProperties.MemoryPath} tells it. */
  @Override
  public String toString() {
    return "staged through pinned host memory, %s chunks"
        .formatted(
            chunkShift >= 20
                ? (1 << (chunkShift - 20)) + " MiB"
                : chunkShift >= 10 ? (1 << (chunkShift - 10)) + " KiB" : chunkBytes() + " B");
  }
}
