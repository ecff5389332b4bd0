package org.jofi.transport;

/**
 * Memory that is registered with a communicator, for use in its requests: a lease. It does not own
 * the memory, which must stay valid until it is closed. Any thread.
 *
 * <p>Several of these may share one registration with the NICs, through the registration cache.
 */
public interface Registration extends AutoCloseable {

  /** {@return what is registered} Without its segment once it is closed. */
  Memory memory();

  /** {@return its length in bytes} */
  default long lengthBytes() {
    return memory().lengthBytes();
  }

  /**
   * {@return whether the NICs cannot reach it, so that messages are copied through host memory, and
   * neither groups nor one-sided operations can use it} Only device memory is ever staged.
   */
  boolean isStaged();

  /**
   * {@return how the NICs access it, as text, such as {@code host} or {@code GPU direct via
   * dma-buf}}
   */
  String path();

  /**
   * {@return what the communicator's peer needs for {@link Comm#iwrite} and {@link Comm#iread}}
   *
   * @throws IllegalStateException if it is closed, or registered for neither {@link Use#PEER_READS}
   *     nor {@link Use#PEER_WRITES}, or if the memory is staged through host memory, so that no NIC
   *     accesses it
   */
  RemoteMemory remote();

  /**
   * {@return whether it can be used} False once it is closed, or its communicator is, or its memory
   * is gone: {@linkplain Transport#forget forgotten}, or its arena closed.
   */
  boolean isOpen();

  /**
   * Gives it back. A second call does nothing, nor one after its communicator was closed.
   *
   * @throws IllegalStateException while a request that uses it is in flight, or has timed out while
   *     the NIC still has operations of it; the memory stays registered and must not be freed
   */
  @Override
  void close();
}
