package org.jofi.cli.collectives;

import java.lang.foreign.MemorySegment;
import org.jofi.collectives.Collective;
import org.jofi.collectives.Group;
import org.jofi.collectives.Plan;

/**
 * An array of a measurement, in host memory or in that of a GPU. For one thread. After a failure it
 * is left open, because NICs may still access it.
 */
public interface MeasuredArray extends AutoCloseable {
  /** Allocates arrays of one kind of memory. */
  @FunctionalInterface
  interface Allocator {
    /**
     * Allocates an array, whose content is undefined.
     *
     * @param bytes its length; 0 for none
     * @throws org.jofi.fabric.FabricException if there is not enough memory
     */
    MeasuredArray allocate(long bytes);
  }

  /** Host memory with the array's length, to fill and check it; the array itself if it is there. */
  MemorySegment image();

  /** Copies the image to the array. */
  void write();

  /** Copies the array to the image. */
  void read();

  /**
   * The plan of an operation of which this is the input.
   *
   * @param algorithm its name; empty for the one that the group chooses
   * @param output of the same kind of memory; may be this
   */
  Plan plan(Group group, Collective collective, String algorithm, MeasuredArray output);

  @Override
  void close();
}
