package org.jofi.rdma.endpoint;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.agrona.collections.LongHashSet;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.FabricException;
import org.jofi.rdma.wire.FabricAddress;

/**
 * Whom a rail posts to: peers, who stay, and strangers, who are answered once and forgotten. Used
 * with the endpoint's lock held.
 */
final class RailPeers {
  /** Most peers that it ever knows, so that strangers cannot fill its memory. */
  static final int MOST_PEERS = 1 << 16;

  /** Most who are only answered that it knows at once: those do not count among its peers. */
  static final int MOST_STRANGERS = 64;

  private final AddressVector addresses;
  private final String label;
  private final Map<FabricAddress, Long> peers = new HashMap<>();
  private final LongHashSet peerNumbers = new LongHashSet();
  // The one that is known for longest comes first.
  private final Map<FabricAddress, Stranger> strangers = new LinkedHashMap<>();

  /** One who is answered, and forgotten when there is need, once nothing is in flight to it. */
  private static final class Stranger {
    final long peer;
    int uses;

    Stranger(long peer) {
      this.peer = peer;
    }
  }

  /**
   * @param addresses the rail's; stays its
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
   * The number of somebody who may be nobody's peer, for one answer, until {@link #answered}. Few
   * of them are known at once, so that whoever asks in vain, under however many addresses, takes no
   * room of peers.
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

  /** The answer is on its way no more. */
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

  /** Whether others have that number: providers may give it to addresses that differ in nothing. */
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
