package org.jofi.transport;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Several receives that become one request; see {@link RecvComm#irecv(ReceiveGroup)}. It is read by
 * that call only, and may be cleared and used again when that returns. Cleared, it allocates
 * nothing until it holds more than ever before. For one thread at a time.
 */
public final class ReceiveGroup {
  private static final int LEAST = 8;

  private @Nullable MemorySegment[] segments = new @Nullable MemorySegment[LEAST];
  private @Nullable Registration[] registrations = new @Nullable Registration[LEAST];
  private long[] offsets = new long[LEAST];
  private long[] lengths = new long[LEAST];
  private int[] tags = new int[LEAST];
  private int size;

  /** An empty one. */
  public ReceiveGroup() {}

  /**
   * Adds a receive into host memory.
   *
   * @param segment the memory, which {@link Comm} says more of
   * @param offset of the first byte, in the segment
   * @param lengthBytes how long the message may be, 0 or more; a longer one fails the communicator
   * @param tag any 32 bits
   * @return this
   */
  public ReceiveGroup add(MemorySegment segment, long offset, long lengthBytes, int tag) {
    put(offset, lengthBytes, tag);
    segments[size++] = Objects.requireNonNull(segment);
    return this;
  }

  /**
   * Adds a receive into a whole segment; see {@link #add(MemorySegment, long, long, int)}.
   *
   * @param segment host memory, as long as the message may be
   * @param tag any 32 bits
   * @return this
   */
  public ReceiveGroup add(MemorySegment segment, int tag) {
    return add(segment, 0, segment.byteSize(), tag);
  }

  /**
   * Adds a receive into memory that is registered for {@link Use#RECEIVE}.
   *
   * @param registration of the communicator that the group is given to, and not staged
   * @param offset of the first byte, in the registered memory; ignored if the length is 0
   * @param lengthBytes how long the message may be, 0 or more; a longer one fails the communicator
   * @param tag any 32 bits
   * @return this
   */
  public ReceiveGroup add(Registration registration, long offset, long lengthBytes, int tag) {
    put(offset, lengthBytes, tag);
    registrations[size++] = Objects.requireNonNull(registration);
    return this;
  }

  private void put(long offset, long lengthBytes, int tag) {
    if (size == tags.length) {
      segments = Arrays.copyOf(segments, 2 * size);
      registrations = Arrays.copyOf(registrations, 2 * size);
      offsets = Arrays.copyOf(offsets, 2 * size);
      lengths = Arrays.copyOf(lengths, 2 * size);
      tags = Arrays.copyOf(tags, 2 * size);
    }
    offsets[size] = offset;
    lengths[size] = lengthBytes;
    tags[size] = tag;
  }

  /** Forgets all of them. */
  public void clear() {
    Arrays.fill(segments, 0, size, null);
    Arrays.fill(registrations, 0, size, null);
    size = 0;
  }

  /** {@return how many were added, since it was made or cleared} */
  public int size() {
    return size;
  }

  /**
   * {@return the memory of a receive; null if it is a registration}
   *
   * @param index 0 to {@link #size} - 1, in the order of adding
   */
  public @Nullable MemorySegment segment(int index) {
    return segments[Objects.checkIndex(index, size)];
  }

  /**
   * {@return the registration of a receive; null if it is a segment}
   *
   * @param index 0 to {@link #size} - 1, in the order of adding
   */
  public @Nullable Registration registration(int index) {
    return registrations[Objects.checkIndex(index, size)];
  }

  /**
   * {@return where in its memory a receive begins, in bytes}
   *
   * @param index 0 to {@link #size} - 1, in the order of adding
   */
  public long offset(int index) {
    return offsets[Objects.checkIndex(index, size)];
  }

  /**
   * {@return how many bytes a receive takes at most}
   *
   * @param index 0 to {@link #size} - 1, in the order of adding
   */
  public long lengthBytes(int index) {
    return lengths[Objects.checkIndex(index, size)];
  }

  /**
   * {@return the tag of a receive}
   *
   * @param index 0 to {@link #size} - 1, in the order of adding
   */
  public int tag(int index) {
    return tags[Objects.checkIndex(index, size)];
  }
}
