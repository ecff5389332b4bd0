package org.jofi.rdma.memory;

/** A block as registered with the rails that use it. */
public interface BlockRegistration extends AutoCloseable {

  /** What posting calls on that rail take as descriptor. */
  long descriptor(int rail);

  /** Closes the registration; the block's memory is still there. */
  @Override
  void close();
}
