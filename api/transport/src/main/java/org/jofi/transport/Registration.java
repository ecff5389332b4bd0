package org.jofi.transport;

import org.jofi.fabric.MemoryKind;

/**
 * A buffer that is registered with a communicator, for use in its requests. It does not own the
 * memory, which must stay valid until {@link Comm#deregMr}. Immutable; any thread.
 *
 * <p>Several of these may share one registration with the NICs, through the registration cache.
 */
public interface Registration {

  /** The address of the first byte. */
  long address();

  /** The length in bytes. */
  long lengthBytes();

  /** Where the memory lives. */
  MemoryKind kind();

  /** How the NICs access it, as text, such as {@code host} or {@code GPU direct via dma-buf}. */
  String path();

  /**
   * What the communicator's peer needs for {@link Comm#iwrite} and {@link Comm#iread}.
   *
   * @throws IllegalStateException if it is deregistered, or if the memory is staged through host
   *     memory, so that no NIC accesses it
   */
  RemoteMemory remote();
}
