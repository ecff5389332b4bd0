package org.jofi.rdma.connect;

import org.jofi.rdma.message.PeerLink;
import org.jofi.rdma.message.Receiver;
import org.jofi.rdma.message.Sender;
import org.jofi.rdma.schedule.StripeScheduler;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;

/** The connector's end of a connection, which sends. */
public final class SendConnection extends Connection {
  private final Sender sender;

  SendConnection(
      Mailbox mailbox, PeerLink link, StripeScheduler scheduler, Sender sender, long silenceNs) {
    super(mailbox, link, scheduler, silenceNs, sender);
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
    return sender.entriesSeen();
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
  int hasStripe(long receiveIndex, int stripe) {
    return Receiver.UNKNOWN;
  }

  @Override
  void written(long receiveIndex, int immediate) {
    // Nobody sends messages this way.
  }

  @Override
  boolean answered(long receiveIndex, int stripe, int tries, boolean arrived) {
    return sender.answered(receiveIndex, stripe, tries, arrived);
  }

  @Override
  void queueBroke(Failure why) {
    // What it waits for is written into its mailbox, or comes over another rail.
  }

  @Override
  void immediate(int bits) {
    // The peer does not send messages in this direction: one that claims to be such is dropped.
  }

  @Override
  void trueLength(long receiveIndex, long lengthBytes) {
    // As above.
  }

  @Override
  void peerStops(long messages) {
    fail(failure(FailureCause.PEER_CLOSED, ""));
  }
}
