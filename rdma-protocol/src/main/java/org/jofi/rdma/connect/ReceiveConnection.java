package org.jofi.rdma.connect;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.message.Flushes;
import org.jofi.rdma.message.PeerLink;
import org.jofi.rdma.message.Receiver;
import org.jofi.rdma.schedule.StripeScheduler;
import org.jofi.rdma.wire.ConnectAccept;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/** The acceptor's end of a connection, which receives. */
public final class ReceiveConnection extends Connection {
  private static final int MOST_ANSWERS = 64;

  private final Receiver receiver;
  private final Flushes flushes;
  private final ConnectAccept accept;
  private int answers;

  ReceiveConnection(
      Mailbox mailbox,
      PeerLink link,
      StripeScheduler scheduler,
      Receiver receiver,
      ConnectAccept accept,
      long silenceNs) {
    this(mailbox, link, scheduler, receiver, accept, silenceNs, new Flushes(link));
  }

  private ReceiveConnection(
      Mailbox mailbox,
      PeerLink link,
      StripeScheduler scheduler,
      Receiver receiver,
      ConnectAccept accept,
      long silenceNs,
      Flushes flushes) {
    super(mailbox, link, scheduler, silenceNs, receiver, flushes);
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

  /** Why no flush can be posted; null if it can. */
  public @Nullable Failure flushRefusal() {
    return flushes.refusal();
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
    return receiver.announced();
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
  int hasStripe(long receiveIndex, int stripe) {
    return receiver.hasStripe(receiveIndex, stripe);
  }

  @Override
  void written(long receiveIndex, int immediate) {
    receiver.written(receiveIndex, immediate);
  }

  @Override
  boolean answered(long receiveIndex, int stripe, int tries, boolean arrived) {
    return false;
  }

  @Override
  void queueBroke(Failure why) {
    // Stripes may arrive over the broken rail without a completion, and they may be the whole
    // message.
    fail(why);
  }

  @Override
  void immediate(int bits) {
    receiver.immediate(bits);
  }

  @Override
  void trueLength(long receiveIndex, long lengthBytes) {
    receiver.trueLength(receiveIndex, lengthBytes);
  }

  @Override
  void peerStops(long messages) {
    receiver.peerClosed(messages);
  }
}
