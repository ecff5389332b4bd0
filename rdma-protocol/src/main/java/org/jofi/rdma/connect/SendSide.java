package org.jofi.rdma.connect;

import org.jofi.rdma.message.Connection;
import org.jofi.rdma.message.Sender;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;

/** The connector's side. */
public final class SendSide extends Side {
  private final Sender sender;

  SendSide(Mailbox mailbox, Connection connection, Sender sender) {
    super(mailbox, connection);
    this.sender = sender;
  }

  /** Its messages. */
  public Sender sender() {
    return sender;
  }

  @Override
  boolean isQuiet() {
    return sender.isQuiet();
  }

  @Override
  void fail(Failure why) {
    sender.fail(why);
  }

  @Override
  long started() {
    return sender.started();
  }

  @Override
  void immediate(int bits) {
    // Nobody sends messages this way: what claims to be one is dropped.
  }

  @Override
  void trueLength(long messageNumber, int subReceive, long lengthBytes) {
    // As above.
  }

  @Override
  void peerStops(long messages) {
    fail(new Failure(FailureCause.PEER_CLOSED, 0, "isend", ""));
  }
}
