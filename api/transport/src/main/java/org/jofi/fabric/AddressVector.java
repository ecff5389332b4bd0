package org.jofi.fabric;

/**
 * A table that maps small numbers to the addresses of peers: fi_av(3), type FI_AV_TABLE. Only one
 * thread at a time may use it and the endpoints that use it.
 */
public interface AddressVector extends AutoCloseable {

  /** No particular peer: FI_ADDR_UNSPEC. */
  long ANY = -1L;

  /**
   * Adds a peer.
   *
   * @param address what the peer's {@link Endpoint#address()} returned, at most a few hundred bytes
   * @return the peer's number, 0 or more, for the posting calls. Adding an address again returns
   *     the same number or a new one, depending on the provider.
   * @throws IllegalArgumentException if the address has a length that this provider never uses
   * @throws FabricException if the provider refuses it
   */
  long insert(byte[] address);

  /**
   * Removes a peer. No operation to it may be in flight. If several inserts returned this number,
   * one removal removes it for all of them.
   *
   * @param peer a number that {@link #insert} returned and that was not removed since
   * @throws IllegalArgumentException if {@code peer} is not a number that {@link #insert} returned
   * @throws FabricException if the provider refuses
   */
  void remove(long peer);

  /**
   * Closes it; a second call does nothing.
   *
   * @throws FabricException with {@code EBUSY} while endpoints use it
   */
  @Override
  void close();
}
