package org.jofi.rdma.connect;

import org.jofi.mr.DataRegistration;
import org.jofi.rdma.message.Connection;
import org.jofi.rdma.message.Flushes;
import org.jofi.rdma.message.Receiver;
import org.jofi.rdma.schedule.StripeScheduler;
import org.jofi.rdma.wire.ConnectAccept;
import org.jofi.transport.Failure;

/** The acceptor's end of a connection, which receives. */
public final class ReceiveSide extends Side {
  private static final int MOST_ANSWERS = 64;

  private final Receiver receiver;
  private final Flushes flushes;
  private final ConnectAccept accept;
  private int answers;

  ReceiveSide(
      Mailbox mailbox,
      Connection connection,
      StripeScheduler scheduler,
      Receiver receiver,
      ConnectAccept accept,
      long silenceNs) {
    this(mailbox, connection, scheduler, receiver, accept, silenceNs, new Flushes(connection));
  }

  private ReceiveSide(
      Mailbox mailbox,
      Connection connection,
      StripeScheduler scheduler,
      Receiver receiver,
      ConnectAccept accept,
      long silenceNs,
      Flushes flushes) {
    super(mailbox, connection, scheduler, silenceNs, receiver, flushes);
    this.receiver = receiver;
    this.flushes = flushes;
    this.accept = accept;
  }

  /** The answer to the connector, to be sent again if it asks again. */
  ConnectAccept accept() {
    return accept;
  }

  /** Whether to answer again; the number of answers is limited. */
  boolean mayAnswerAgain() {
    return !isHeard() && ++answers <= MOST_ANSWERS;
  }

  /** Its messages. */
  public Receiver receiver() {
    return receiver;
  }

  /**
   * As {@link org.jofi.transport.RecvComm#iflush}, with the lock held; see {@link Flushes#flush}.
   */
  public long flush(long address, long lengthBytes, DataRegistration registration) {
    return flushes.flush(address, lengthBytes, registration);
  }

  /**
   * As {@link org.jofi.transport.RecvComm#test(long, long[])}, without progress.
   *
   * @throws IllegalArgumentException if it is a grouped receive, longer than the array
   */
  public long test(long request, long[] lengths) {
    return receiver.owns(request) ? receiver.test(request, lengths) : test(request);
  }

  @Override
  long started() {
    return 0;
  }

  @Override
  long writes() {
    return receiver.messagesOffered();
  }

  @Override
  long arrived() {
    return receiver.immediates();
  }

  @Override
  long finished() {
    return 0;
  }

  @Override
  long unseen() {
    return 0;
  }

  @Override
  void peerIsAt(long finished, long unseen) {
    receiver.peerIsAt(finished, unseen);
  }

  @Override
  int hasStripe(long messageNumber, int subReceive, int stripe) {
    return receiver.hasStripe(messageNumber, subReceive, stripe);
  }

  @Override
  void written(long messageNumber, int immediate) {
    receiver.written(messageNumber, immediate);
  }

  @Override
  boolean answered(long messageNumber, int subReceive, int stripe, int tries, boolean arrived) {
    return false;
  }

  @Override
  void deaf(Failure why) {
    // Stripes may arrive over the broken rail without a completion, and they may be the whole
    // message.
    fail(why);
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
