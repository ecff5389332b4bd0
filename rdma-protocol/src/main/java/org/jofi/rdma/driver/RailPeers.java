package org.jofi.rdma.driver;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.agrona.collections.LongHashSet;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.FabricException;
import org.jofi.rdma.wire.FabricAddress;

/**
 * The addresses that a rail posts to: peers, which stay known, and strangers, which are senders
 * without a connection that get one answer and are then removed. Used with the endpoint's lock
 * held.
 */
final class RailPeers {
  /** Largest number of peers, so that nobody can fill the memory with addresses. */
  static final int MOST_PEERS = 1 << 16;

  /** Largest number of strangers at once. They do not count as peers. */
  static final int MOST_STRANGERS = 64;

  private final AddressVector addresses;
  private final String label;
  private final Map<FabricAddress, Long> peers = new HashMap<>();
  private final LongHashSet peerNumbers = new LongHashSet();
  // The oldest one comes first.
  private final Map<FabricAddress, Stranger> strangers = new LinkedHashMap<>();

  /**
   * An address that gets an answer. It is removed when space is needed and nothing is in flight to
   * it.
   */
  private static final class Stranger {
    final long peer;
    int uses;

    Stranger(long peer) {
      this.peer = peer;
    }
  }

  /**
   * @param addresses the rail's address vector; the rail closes it
   * @param label what errors call the rail
   */
  RailPeers(AddressVector addresses, String label) {
    this.addresses = addresses;
    this.label = label;
  }

  /**
   * The number of a peer, for posting. An address is inserted once and stays known until the rail
   * closes: an address vector may forget a peer only when nothing is in flight to it.
   *
   * @throws IllegalArgumentException if the address has a length that this provider never uses, or
   *     too many peers are known
   * @throws FabricException if the provider refuses it
   */
  long peer(FabricAddress address) {
    Long known = peers.get(address);
    if (known != null) {
      return known;
    }
    if (peers.size() == MOST_PEERS) {
      throw new IllegalArgumentException(
          "%s knows %d peers, and takes no more".formatted(label, MOST_PEERS));
    }
    Stranger stranger = strangers.remove(address);
    long peer = stranger == null ? addresses.insert(address.bytes()) : stranger.peer;
    peers.put(address, peer);
    peerNumbers.add(peer);
    return peer;
  }

  /**
   * The number of an address that may not be a peer's, for one answer, until {@link #answered}.
   * Only few of them are known at once, so that senders without a connection, even under many
   * addresses, take no space from peers.
   *
   * @throws IllegalArgumentException if the address has a length that this provider never uses, or
   *     too many are being answered
   * @throws FabricException if the provider refuses it
   */
  long stranger(FabricAddress address) {
    Long known = peers.get(address);
    if (known != null) {
      return known;
    }
    Stranger stranger = strangers.get(address);
    if (stranger == null) {
      if (strangers.size() == MOST_STRANGERS) {
        forgetStranger();
      }
      stranger = new Stranger(addresses.insert(address.bytes()));
      strangers.put(address, stranger);
    }
    stranger.uses++;
    return stranger.peer;
  }

  /** The answer is no longer in flight. */
  void answered(FabricAddress address) {
    Stranger stranger = strangers.get(address);
    if (stranger != null) {
      stranger.uses--;
    }
  }

  private void forgetStranger() {
    for (Iterator<Stranger> all = strangers.values().iterator(); all.hasNext(); ) {
      Stranger stranger = all.next();
      if (stranger.uses == 0) {
        all.remove();
        if (!isShared(stranger.peer)) {
          addresses.remove(stranger.peer);
        }
        return;
      }
    }
    throw new IllegalArgumentException(
        "%s answers %d strangers, and no more at once".formatted(label, MOST_STRANGERS));
  }

  /**
   * Whether another address has the same number: providers may give equal addresses the same one.
   */
  private boolean isShared(long number) {
    for (Stranger other : strangers.values()) {
      if (other.peer == number) {
        return true;
      }
    }
    return peerNumbers.contains(number);
  }

  /** How many it knows, peers and strangers. */
  int known() {
    return peers.size() + strangers.size();
  }
}
