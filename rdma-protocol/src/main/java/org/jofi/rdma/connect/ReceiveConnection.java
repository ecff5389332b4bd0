package org.jofi.rdma.connect;

import org.jofi.rdma.engine.ReceiveProtocol;
import org.jofi.rdma.onesided.Flushes;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.wire.ConnectAccept;

/** The acceptor's end of a connection, which receives. */
public final class ReceiveConnection extends Connection {
  private static final int MOST_ANSWERS = 64;

  public final ReceiveProtocol receiver;
  public final Flushes flushes;

  /** The answer to the connector, to be sent again if it asks again. */
  public final ConnectAccept accept;

  private int answers;

  public ReceiveConnection(
      Runnable freeMailbox,
      PeerLink link,
      ReceiveProtocol receiver,
      ConnectAccept accept,
      long silenceNs) {
    Flushes made = new Flushes(link);
    super(freeMailbox, link, silenceNs, receiver, made);
    flushes = made;
    this.receiver = receiver;
    this.accept = accept;
  }

  public boolean mayAnswerAgain() {
    return !link.doesPeerKnowThisSide() && ++answers <= MOST_ANSWERS;
  }

  /**
   * As {@link org.jofi.transport.RecvComm#test(long, long[])}, without progress.
   *
   * @throws IllegalArgumentException if it is a grouped receive, longer than the array
   */
  public long test(long request, long[] lengths) {
    return receiver.requests().owns(request) ? receiver.test(request, lengths) : test(request);
  }
}
