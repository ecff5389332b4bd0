package org.jofi.fabric;

/** A network: fi_fabric(3). Any thread. The opener closes it, after its domains. */
public interface Fabric extends AutoCloseable {

  /** What it was opened from. */
  FabricInfo info();

  /**
   * Opens the NIC that {@link #info()} names: fi_domain(3). Several domains of one fabric may be
   * open.
   *
   * @throws FabricException if the provider refuses
   * @throws IllegalStateException if this fabric is closed
   */
  Domain openDomain();

  /**
   * Closes it; again is a no-op.
   *
   * @throws FabricException with {@code EBUSY}, naming them, while domains are open
   */
  @Override
  void close();
}
