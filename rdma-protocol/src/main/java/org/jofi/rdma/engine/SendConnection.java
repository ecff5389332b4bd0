package org.jofi.rdma.engine;

/** The connector's end of a connection, which sends. */
public final class SendConnection extends Connection {
  private final SendProtocol sender;

  public SendConnection(Runnable freeMailbox, PeerLink link, long silenceNs, SendProtocol sender) {
    super(freeMailbox, link, silenceNs, sender);
    this.sender = sender;
  }

  public SendProtocol sender() {
    return sender;
  }
}
