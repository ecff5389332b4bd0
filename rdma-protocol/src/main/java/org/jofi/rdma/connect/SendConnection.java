package org.jofi.rdma.connect;

import org.jofi.rdma.engine.SendProtocol;
import org.jofi.rdma.request.PeerLink;

/** The connector's end of a connection, which sends. */
public final class SendConnection extends Connection {
  public final SendProtocol sender;

  public SendConnection(Runnable freeMailbox, PeerLink link, long silenceNs, SendProtocol sender) {
    super(freeMailbox, link, silenceNs, sender);
    this.sender = sender;
  }
}
