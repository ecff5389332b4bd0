package org.jofi.rdma.connect;

import org.jofi.rdma.message.Connection;
import org.jofi.rdma.message.Receiver;
import org.jofi.transport.Failure;

/** The accepting side. */
public final class ReceiveSide extends Side {
  private final Receiver receiver;

  ReceiveSide(Mailbox mailbox, Connection connection, Receiver receiver) {
    super(mailbox, connection);
    this.receiver = receiver;
  }

  /** Its messages. */
  public Receiver receiver() {
    return receiver;
  }

  @Override
  boolean isQuiet() {
    return receiver.isQuiet();
  }

  @Override
  void fail(Failure why) {
    receiver.fail(why);
  }

  @Override
  long started() {
    return 0;
  }

  @Override
  void immediate(int bits) {
    receiver.immediate(bits);
  }

  @Override
  void trueLength(long messageNumber, int subReceive, long lengthBytes) {
    receiver.trueLength(messageNumber, subReceive, lengthBytes);
  }

  @Override
  void peerStops(long messages) {
    receiver.peerClosed(messages);
  }
}
