package org.jofi.transport;

import org.jofi.fabric.MemoryKind;

/**
 * A buffer registered with a communicator: what its requests take along. It does not own the
 * memory, which must stay where it is until {@link Comm#deregMr}. Immutable; any thread.
 *
 * <p>Several may stand for one registration with the NICs; that is the cache's business.
 */
public interface Registration {

  /** The first byte that was registered. */
  long address();

  /** How many bytes. */
  long lengthBytes();

  /** Where the memory lives. */
  MemoryKind kind();

  /** How the NICs reach it, in words, such as {@code host} or {@code GPU direct via dma-buf}. */
  String path();

  /**
   * What the communicator's peer needs for {@link Comm#iwrite} and {@link Comm#iread}.
   *
   * @throws IllegalStateException if it was deregistered, or is staged so that no NIC reaches it
   */
  RemoteMemory remote();
}
