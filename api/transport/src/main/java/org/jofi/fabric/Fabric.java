package org.jofi.fabric;

/** A network: fi_fabric(3). Any thread. The code that opened it closes it, after its domains. */
public interface Fabric extends AutoCloseable {

  /** {@return the info that it was opened with} */
  FabricInfo info();

  /**
   * Opens the NIC that {@link #info()} names: fi_domain(3). Several domains of one fabric may be
   * open.
   *
   * @return the domain, which the caller closes
   * @throws FabricException if the provider refuses
   * @throws IllegalStateException if this fabric is closed
   */
  Domain openDomain();

  /**
   * Closes it; a second call does nothing.
   *
   * @throws FabricException with {@code EBUSY} while domains are open; the message names them
   */
  @Override
  void close();
}
