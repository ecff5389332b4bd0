package org.jofi.collectives;

import java.time.Duration;
import java.util.Objects;
import org.jofi.fabric.DeviceMemory;
import org.jspecify.annotations.Nullable;

/**
 * How a group works. All ranks pass the same chunk. Immutable; any thread.
 *
 * @param timeout how long an operation may go on without any progress of this rank, more than 0;
 *     also how long connecting to a rank may take
 * @param chunkBytes about how long a message of a long array is, in bytes, 64 or more
 * @param window how many messages to a rank, and from it, are in flight at most, 1 to 64
 * @param gpu the GPU whose memory operations may be on; it stays open longer than the group. Null:
 *     the group opens that of the first such memory by itself
 */
public record GroupOptions(
    Duration timeout, int chunkBytes, int window, @Nullable DeviceMemory gpu) {
  private static final GroupOptions DEFAULTS =
      new GroupOptions(Duration.ofMinutes(1), 256 << 10, 8, null);

  /** Checks the values. */
  public GroupOptions {
    if (timeout.isNegative() || timeout.isZero()) {
      throw new IllegalArgumentException("timeout must be more than 0, is " + timeout);
    }
    if (chunkBytes < 64) {
      throw new IllegalArgumentException("a chunk has 64 bytes or more, not " + chunkBytes);
    }
    if (window < 1 || window > 64) {
      throw new IllegalArgumentException("window must be 1 to 64, is " + window);
    }
  }

  /** {@return a minute, chunks of 256 KiB, 8 messages} */
  public static GroupOptions defaults() {
    return DEFAULTS;
  }

  /**
   * {@return the same with another time limit}
   *
   * @param longest see {@link #timeout}
   */
  public GroupOptions withTimeout(Duration longest) {
    return new GroupOptions(longest, chunkBytes, window, gpu);
  }

  /**
   * {@return the same with another chunk}
   *
   * @param bytes see {@link #chunkBytes}
   */
  public GroupOptions withChunkBytes(int bytes) {
    return new GroupOptions(timeout, bytes, window, gpu);
  }

  /**
   * {@return the same with another window}
   *
   * @param messages see {@link #window}
   */
  public GroupOptions withWindow(int messages) {
    return new GroupOptions(timeout, chunkBytes, messages, gpu);
  }

  /**
   * {@return the same with a GPU}
   *
   * @param opened see {@link #gpu}
   */
  public GroupOptions withGpu(DeviceMemory opened) {
    return new GroupOptions(timeout, chunkBytes, window, Objects.requireNonNull(opened));
  }
}
