package org.jofi.cli.ranks;

import java.util.List;
import org.jofi.ranks.Ranks;
import org.jofi.ranks.RanksException;
import org.jofi.transport.Device;
import org.jofi.transport.RecvComm;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportException;

/**
 * A rank's connections in a ring, where it sends to the next rank and receives from the previous
 * one. With two ranks, both are the other one. For one thread.
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
    toNext = peers.connected();
    fromPrevious = peers.accepted();
  }

  /**
   * Connects the ring. All ranks call this at the same time: each listens, all exchange their
   * handles, and each waits for both of its connections at once, since its neighbours wait for it,
   * too.
   *
   * @throws RankFailure if nothing happens for too long
   * @throws TransportException if a connection fails
   * @throws RanksException if a rank is lost
   */
  public static RingLinks connect(Ranks bootstrap, Device device, BoundedWait patience) {
    PeerConnections peers = new PeerConnections();
    try (peers) {
      List<byte[]> handles = bootstrap.gather(peers.listen(device), patience.bound());
      peers.connect(device, handles.get((bootstrap.rank() + 1) % bootstrap.size()));
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
      toNext.progress();
      fromPrevious.progress();
      patience.idle("the other ranks");
    }
  }

  /** Closes all connections. All ranks must be done. */
  @Override
  public void close() {
    toNext.close();
    fromPrevious.close();
  }

  /** Aborts all connections without waiting for the peers. */
  public void abort() {
    peers.abort();
  }
}
