package org.jofi.cli.ranks;

import java.util.List;
import org.jofi.ranks.Ranks;
import org.jofi.ranks.RanksException;
import org.jofi.transport.Device;
import org.jofi.transport.RecvComm;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportException;

/**
 * A rank's connections: in a ring, where it sends to the next rank and receives from the previous
 * one, and in both directions to partners, if there are any. There is one connection at most from
 * one rank to another: with two ranks, the neighbours are the other rank, and so is the partner.
 * For one thread.
 */
public final class RingLinks implements AutoCloseable {
  private final Ranks bootstrap;
  private final BoundedWait patience;
  private final PeerConnections peers;
  private final SendComm toNext;
  private final RecvComm fromPrevious;

  private RingLinks(Ranks bootstrap, BoundedWait patience, PeerConnections peers) {
    this.bootstrap = bootstrap;
    this.patience = patience;
    this.peers = peers;
    toNext = to((bootstrap.rank() + 1) % bootstrap.size());
    fromPrevious = from(Math.floorMod(bootstrap.rank() - 1, bootstrap.size()));
  }

  /** Connects the ring alone; see {@link #connect(Ranks, Device, BoundedWait, Partners)}. */
  public static RingLinks connect(Ranks bootstrap, Device device, BoundedWait patience) {
    return connect(bootstrap, device, patience, Partners.NONE);
  }

  /**
   * Connects the ring and the partners. All ranks call this at the same time: each listens, all
   * exchange their handles, and each waits for all of its connections at once, since its peers wait
   * for it, too.
   *
   * @throws RankFailure if nothing happens for too long
   * @throws TransportException if a connection fails
   * @throws RanksException if a rank is lost
   */
  public static RingLinks connect(
      Ranks bootstrap, Device device, BoundedWait patience, Partners partners) {
    int rank = bootstrap.rank();
    int ranks = bootstrap.size();
    List<Integer> outgoing = partners.outgoing(rank, ranks);
    PeerConnections peers = new PeerConnections(partners.incoming(rank, ranks), outgoing);
    try (peers) {
      List<byte[]> handles = bootstrap.gather(peers.listen(device), patience.bound());
      for (int peer : outgoing) {
        int index = partners.incoming(peer, ranks).indexOf(rank);
        peers.connect(device, handles.get(peer), index);
      }
      patience.progressed();
      while (!peers.poll()) {
        patience.idle("its peers to connect");
      }
      RingLinks links = new RingLinks(bootstrap, patience, peers);
      // Wait for all ranks: a listener that closes before its peer has connected would refuse it.
      links.gather(new byte[0]);
      return links;
    } catch (RuntimeException e) {
      peers.abort();
      throw e instanceof TransportException failure ? patience.failed(failure) : e;
    }
  }

  /** The connection to the bootstrap server; not closed with this. */
  public Ranks ranks() {
    return bootstrap;
  }

  /** How to wait. */
  public BoundedWait patience() {
    return patience;
  }

  /** The connection to rank + 1. */
  public SendComm toNext() {
    return toNext;
  }

  /** The connection from rank - 1. */
  public RecvComm fromPrevious() {
    return fromPrevious;
  }

  /** Whether there is a connection to and from each of these ranks. */
  public boolean reach(List<Integer> ranks) {
    return peers.connected().keySet().containsAll(ranks)
        && peers.accepted().keySet().containsAll(ranks);
  }

  /**
   * The connection to a rank.
   *
   * @throws IllegalArgumentException if there is none
   */
  public SendComm to(int rank) {
    SendComm comm = peers.connected().get(rank);
    if (comm == null) {
      throw new IllegalArgumentException("%s is not connected to %d".formatted(name(), rank));
    }
    return comm;
  }

  /**
   * The connection from a rank.
   *
   * @throws IllegalArgumentException if there is none
   */
  public RecvComm from(int rank) {
    RecvComm comm = peers.accepted().get(rank);
    if (comm == null) {
      throw new IllegalArgumentException("%s has not accepted %d".formatted(name(), rank));
    }
    return comm;
  }

  private String name() {
    return bootstrap.name();
  }

  /**
   * As {@link Ranks#gather}, but makes progress on the communicators meanwhile, because other ranks
   * may wait for transfers that need it.
   */
  public List<byte[]> gather(byte[] mine) {
    bootstrap.tell(mine);
    patience.progressed();
    while (true) {
      List<byte[]> all = bootstrap.told();
      if (all != null) {
        return all;
      }
      peers.connected().values().forEach(SendComm::progress);
      peers.accepted().values().forEach(RecvComm::progress);
      patience.idle("the other ranks");
    }
  }

  /** Closes all connections. All ranks must be done. */
  @Override
  public void close() {
    peers.connected().values().forEach(SendComm::close);
    peers.accepted().values().forEach(RecvComm::close);
  }

  /** Aborts all connections without waiting for the peers. */
  public void abort() {
    peers.abort();
  }
}
