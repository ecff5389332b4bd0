package org.jofi.fabric;

/**
 * Peers' addresses as small numbers: fi_av(3), type FI_AV_TABLE. One thread at a time, together
 * with the endpoints that use it.
 */
public interface AddressVector extends AutoCloseable {

  /** Names no peer, or any: FI_ADDR_UNSPEC. */
  long ANY = -1L;

  /**
   * Adds a peer.
   *
   * @param address what the peer's {@link Endpoint#address()} returned, at most a few hundred bytes
   * @return the peer's number, 0 or more, for the posting calls. Adding an address again returns
   *     the same number or a new one, as the provider likes.
   * @throws IllegalArgumentException if the address has a length that this provider never uses
   * @throws FabricException if the provider refuses it
   */
  long insert(byte[] address);

  /**
   * Forgets a peer. Nothing may be in flight to it. Where several inserts returned this number, one
   * removal ends them all.
   *
   * @throws IllegalArgumentException if {@code peer} is no number that {@link #insert} returned
   * @throws FabricException if the provider refuses
   */
  void remove(long peer);

  /**
   * Closes it; again is a no-op.
   *
   * @throws FabricException with {@code EBUSY} while endpoints use it
   */
  @Override
  void close();
}
