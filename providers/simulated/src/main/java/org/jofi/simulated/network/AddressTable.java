package org.jofi.simulated.network;

import org.agrona.collections.LongArrayList;

/**
 * The address keys of peers; a peer's number is its index. Under the network's lock.
 *
 * @see EndpointAddress#key
 */
public final class AddressTable {
  private static final long REMOVED = -2;

  private final LongArrayList keys = new LongArrayList();

  /** Creates an empty table. */
  public AddressTable() {}

  /** Whether this is the number of a peer. */
  public boolean knows(long peer) {
    return peer >= 0 && peer < keys.size() && keys.getLong((int) peer) != REMOVED;
  }

  /**
   * The address key of a peer; -1 if no endpoint can have the address. The number must be valid,
   * see {@link #knows}.
   */
  public long address(long peer) {
    return keys.getLong((int) peer);
  }

  /** The number of a peer by its address key; -1 if it was not inserted. */
  public long numberOf(long address) {
    return keys.indexOf(address);
  }

  /** Adds a peer and returns its number. */
  public long add(long address) {
    keys.addLong(address);
    return keys.size() - 1L;
  }

  /** Removes a peer. Its number is not used again. */
  public void remove(long peer) {
    keys.setLong((int) peer, REMOVED);
  }
}
