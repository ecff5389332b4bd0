package org.jofi.cli.allreduce;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import org.jofi.transport.Memory;

/**
 * The memory of one all-reduce: an array of float32, and a landing area for received elements that
 * have to be added to it. It is in host memory, or in the memory of a GPU, which does the
 * additions. For one thread.
 *
 * <p>Close the registrations of both before closing it. After a failure it is left open, because
 * NICs may still access it.
 */
public interface RingMemory extends AutoCloseable {
  /** Parts of the landing area begin at a multiple of this, a page. */
  long SLOT_BYTES = 4096;

  /** Allocates memory of one kind. */
  @FunctionalInterface
  interface Allocator {
    /**
     * Allocates memory, whose content is undefined.
     *
     * @param arrayBytes length of the array, a multiple of 4
     * @param landingBytes length of the landing area, a multiple of 4
     * @throws org.jofi.fabric.FabricException if there is not enough memory
     */
    RingMemory allocate(long arrayBytes, long landingBytes);
  }

  /** The length of a part of the landing area that takes a message of this many elements. */
  static long slotBytes(int elements) {
    return Math.ceilDiv(elements * JAVA_FLOAT.byteSize(), SLOT_BYTES) * SLOT_BYTES;
  }

  /** The array. */
  Memory array();

  /** The landing area. */
  Memory landing();

  /**
   * Adds a part of the landing area to a part of the array, and waits until it is done. Allocates
   * nothing.
   *
   * @param arrayOffset in bytes, a multiple of 4
   * @param landingOffset in bytes, a multiple of 4
   * @param count elements
   */
  void add(long arrayOffset, long landingOffset, int count);

  /**
   * Host memory with the array's length, to fill and check the array; the array itself if that is
   * in host memory.
   */
  MemorySegment image();

  /** Copies the image to the array. */
  void write();

  /** Copies the array to the image. */
  void read();

  @Override
  void close();
}
