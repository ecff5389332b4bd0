package org.jofi.collectives;

import java.lang.foreign.MemorySegment;

/** Combines ranges of elements, for a reduction of one's own. */
@FunctionalInterface
public interface Combiner {
  /**
   * Combines each element with the other range's, in place. It must allocate nothing for a plan to
   * do so either; what it throws ends the operation on this rank, and with it the group.
   *
   * @param into holds the elements of the one summand, and the results afterwards
   * @param intoOffset where they begin, in bytes
   * @param from holds those of the other one
   * @param fromOffset where they begin, in bytes
   * @param count how many elements
   */
  void combine(
      MemorySegment into, long intoOffset, MemorySegment from, long fromOffset, long count);
}
