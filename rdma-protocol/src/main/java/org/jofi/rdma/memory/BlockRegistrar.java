package org.jofi.rdma.memory;

import java.lang.foreign.MemorySegment;

/** Registers the blocks of a freelist. */
@FunctionalInterface
public interface BlockRegistrar {

  /**
   * Registers a block, whole.
   *
   * @param block aligned to a page and a multiple of it long; stays until the registration is
   *     closed
   * @throws RuntimeException if it cannot; nothing stays registered then
   */
  BlockRegistration register(MemorySegment block);
}
