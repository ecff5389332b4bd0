package org.jofi.cli.ranks;

import java.util.List;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.ListenComm;
import org.jofi.transport.RecvComm;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * A rank's connections in a ring: it sends to the next rank and receives from the previous one.
 * With two ranks, both are the other rank. For one thread.
 *
 * @param bootstrap the connection to the bootstrap server; not closed with this
 * @param patience how to wait
 * @param toNext connection to rank + 1
 * @param fromPrevious connection from rank - 1
 */
public record RingLinks(
    Bootstrap bootstrap, BoundedWait patience, SendComm toNext, RecvComm fromPrevious)
    implements AutoCloseable {

  /**
   * Connects the ring. All ranks call this at the same time: each listens, all exchange their
   * handles, and each waits for both of its connections at once, since its neighbours wait for it,
   * too.
   *
   * @throws RankFailure if nothing happens for too long
   * @throws TransportException if a connection fails
   * @throws BootstrapException if a rank is lost
   */
  public static RingLinks connect(Bootstrap bootstrap, Device device, BoundedWait patience) {
    SendComm send = null;
    RecvComm receive = null;
    try (ListenComm listener = device.listen()) {
      List<byte[]> handles = bootstrap.gather(listener.handle().encode());
      int next = (bootstrap.rank() + 1) % bootstrap.size();
      try (ConnectAttempt attempt = device.connect(ConnectHandle.decode(handles.get(next)))) {
        patience.progressed();
        while (send == null || receive == null) {
          if (send == null) {
            send = attempt.poll();
          }
          if (receive == null) {
            receive = listener.accept();
          }
          patience.idle("its neighbours to connect");
        }
      }
      RingLinks links = new RingLinks(bootstrap, patience, send, receive);
      // Wait for all ranks: a listener that closes before its neighbour has connected would refuse
      // it.
      links.gather(new byte[0]);
      return links;
    } catch (RuntimeException e) {
      abort(send);
      abort(receive);
      throw e instanceof TransportException failure ? patience.failed(failure) : e;
    }
  }

  private static void abort(@Nullable Comm comm) {
    if (comm == null) {
      return;
    }
    try {
      comm.abort();
    } catch (TransportException e) {
      // The reason for the failure is reported elsewhere. Closing the transport cleans up the rest.
      System.getLogger(RingLinks.class.getName())
          .log(System.Logger.Level.DEBUG, "a communicator did not end in time", e);
    }
  }

  /**
   * As {@link Bootstrap#gather}, but makes progress on the communicators meanwhile, because other
   * ranks may wait for transfers that need it.
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

  /** Closes both connections. All ranks must be done. */
  @Override
  public void close() {
    toNext.close();
    fromPrevious.close();
  }

  /** Aborts both connections without waiting for the neighbours. */
  public void abort() {
    abort(toNext);
    abort(fromPrevious);
  }
}
