package org.jofi.cli.allreduce;

import java.lang.foreign.MemorySegment;
import org.jofi.transport.Buffer;

/**
 * The memory of one ring: an array of float32, and room where what is to be added to it lands. In
 * host memory, or in a GPU's, which adds by itself. For one thread.
 *
 * <p>Who closes it has deregistered both before. It is left open after a failure, as long as NICs
 * may still be at it.
 */
public interface RingMemory extends AutoCloseable {

  /** Gives memory of one kind. */
  @FunctionalInterface
  interface Allocator {
    /**
     * Allocates; what the memory holds is undefined.
     *
     * @param arrayBytes length of the array, a multiple of 4
     * @param landingBytes length of the room, a multiple of 4
     * @throws org.jofi.fabric.FabricException if there is not as much
     */
    RingMemory allocate(long arrayBytes, long landingBytes);
  }

  /** The array. */
  Buffer array();

  /** The room. */
  Buffer landing();

  /**
   * Adds what landed to a part of the array, and waits for it. Allocates nothing.
   *
   * @param arrayOffset in bytes, a multiple of 4
   * @param landingOffset in bytes, a multiple of 4
   * @param count elements
   */
  void add(long arrayOffset, long landingOffset, int count);

  /** Host memory as long as the array: the array itself, where that is in host memory. */
  MemorySegment image();

  /** Makes the array what the image is. */
  void write();

  /** Makes the image what the array is. */
  void read();

  @Override
  void close();
}
