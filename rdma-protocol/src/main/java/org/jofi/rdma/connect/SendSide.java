package org.jofi.rdma.connect;

import org.jofi.rdma.message.Connection;
import org.jofi.rdma.message.Receiver;
import org.jofi.rdma.message.Sender;
import org.jofi.rdma.schedule.StripeScheduler;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;

/** The connector's end of a connection, which sends. */
public final class SendSide extends Side {
  private final Sender sender;

  SendSide(
      Mailbox mailbox,
      Connection connection,
      StripeScheduler scheduler,
      Sender sender,
      long silenceNs) {
    super(mailbox, connection, scheduler, silenceNs, sender);
    this.sender = sender;
  }

  /** Its messages. */
  public Sender sender() {
    return sender;
  }

  @Override
  long started() {
    return sender.started();
  }

  @Override
  long writes() {
    return sender.stripesWritten();
  }

  @Override
  long arrived() {
    return sender.messagesSeen();
  }

  @Override
  long finished() {
    return sender.finished();
  }

  @Override
  long unseen() {
    return sender.firstUnseen();
  }

  @Override
  void peerIsAt(long finished, long unseen) {
    // Receivers finish nothing.
  }

  @Override
  int hasStripe(long messageNumber, int subReceive, int stripe) {
    return Receiver.UNKNOWN;
  }

  @Override
  void written(long messageNumber, int immediate) {
    // Nobody sends messages this way.
  }

  @Override
  boolean answered(long messageNumber, int subReceive, int stripe, int tries, boolean arrived) {
    return sender.answered(messageNumber, subReceive, stripe, tries, arrived);
  }

  @Override
  void deaf(Failure why) {
    // What it waits for is written into its mailbox, or comes over another rail.
  }

  @Override
  void immediate(int bits) {
    // The peer does not send messages in this direction: one that claims to be such is dropped.
  }

  @Override
  void trueLength(long messageNumber, int subReceive, long lengthBytes) {
    // As above.
  }

  @Override
  void peerStops(long messages) {
    fail(failure(FailureCause.PEER_CLOSED, ""));
  }
}
