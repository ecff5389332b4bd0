package org.jofi.rdma.engine;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.operation.Transfer.State;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.request.StripedRequest;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A message that is written into the memory of a receive. Its stripes say what each of them needs;
 * what the writes cannot tell the receiver goes in control messages.
 */
class RendezvousSend extends StripedRequest implements SentListener {
  private static final int LENGTH = ProtocolLimits.MAX_STRIPES;
  private static final int QUESTION = LENGTH + 1;

  final Sender sender;
  private final Task telling = new Telling();
  long receiveIndex;
  private boolean isShort;
  private boolean lengthTold;

  RendezvousSend(Sender sender, Request request) {
    super(request, sender.link.sink);
    this.sender = sender;
  }

  private final class Telling extends Task {
    @Override
    protected boolean advance() {
      return !isLive() || tell();
    }
  }

  /** Its receive, and whether the message does not fill that. */
  final void target(long index, boolean shorter) {
    receiveIndex = index;
    isShort = shorter;
  }

  final void remote(int rail, long address, long key) {
    transfer.remote(rail, address, key);
  }

  final void start(long from, long bytes, DataRegistration memory) {
    begin(bytes, memory);
    write(from, bytes, memory);
  }

  /** Begins a message of so many bytes: nothing is written yet. */
  final void begin(long messageBytes, DataRegistration memory) {
    lengthBytes = messageBytes;
    lease = memory;
    lengthTold = !isShort;
    request.begin(this);
  }

  /** Writes the message, or the last of it, with which the receive is over. */
  final void write(long from, long bytes, DataRegistration memory) {
    transfer.begin(Transfer.Kind.WRITE, from, memory);
    transfer.announce(sender.writesData);
    if (!sender.writesData) {
      transfer.completeOnDelivery(-1);
    }
    if (bytes > 0) {
      transfer.spread(bytes);
      sender.link.submit(transfer);
    } else {
      // A stripe of nothing.
      post(transfer.place(Transfer.ANY_RAIL, 0, 0));
    }
    if (!lengthTold && isLive()) {
      sender.link.submit(telling);
    }
  }

  /**
   * Posts a stripe. One of nothing, without immediate data, delivers nothing; and there are
   * providers that never complete such a delivery.
   */
  private void post(int stripe) {
    if (transfer.lengthBytes(stripe) > 0 || transfer.bringsData(stripe)) {
      sender.link.submit(transfer);
    } else {
      transfer.move(stripe, State.WRITTEN);
      sender.link.submit(telling);
    }
  }

  /** Whether that is its receive, and it is not over. */
  final boolean is(long index) {
    return isLive() && receiveIndex == index;
  }

  /** Sends what is to be sent; whether there were buffers for all. */
  private boolean tell() {
    boolean all = true;
    for (int stripe = 0; stripe < transfer.stripes() && isLive(); stripe++) {
      switch (transfer.state(stripe)) {
        case WRITTEN -> all &= announce(stripe);
        case DOUBTFUL -> all &= ask(stripe);
        default -> {}
      }
    }
    if (!lengthTold && isLive()) {
      request.begun();
      lengthTold =
          sent(sender.link.tell(MessageType.TRUE_LENGTH, receiveIndex, lengthBytes, this, LENGTH));
      all &= lengthTold;
    }
    if (transfer.in(State.TO_POST) == 0 && transfer.isBound()) {
      transfer.takeTurn();
    }
    return all;
  }

  private boolean announce(int stripe) {
    int immediate = immediate(transfer, stripe);
    transfer.move(stripe, State.ANNOUNCED);
    request.begun();
    boolean sent =
        sent(
            // Only what was missing is announced apart where writes tell of themselves.
            sender.writesData
                ? sender.link.sendWritten(receiveIndex, immediate, this, stripe)
                : sender.link.sendImmediate(immediate, this, stripe));
    if (!sent) {
      transfer.move(stripe, State.WRITTEN);
    }
    return sent;
  }

  private boolean ask(int stripe) {
    request.begun();
    boolean sent =
        sent(sender.link.sendAsk(receiveIndex, stripe, transfer.tries(stripe), this, QUESTION));
    if (sent) {
      transfer.move(stripe, State.ASKED);
    }
    return sent;
  }

  /** A message counts as under way before it is sent, since it may fail in doing so. */
  private boolean sent(boolean sent) {
    if (!sent) {
      request.returned();
    }
    return sent;
  }

  @Override
  public int immediate(Transfer of, int stripe) {
    return ImmediateData.of(
        stripe,
        of.isBound() && stripe == of.stripes() - 1,
        isShort,
        sender.link.id.to(),
        receiveIndex);
  }

  @Override
  public void completed(Transfer of, int stripe) {
    if (of.bringsData(stripe)) {
      sender.stripeWritten();
    } else if (isLive()) {
      sender.link.endpoint.tasks().defer(telling);
    }
    request.settle();
  }

  @Override
  public boolean failed(
      Transfer of, int stripe, Failure why, Certainty certainty, boolean railLeft) {
    if (mayPostAgain(certainty, railLeft)) {
      return true;
    }
    if (!isLive() || !railLeft || sender.failure() != null) {
      return super.failed(of, stripe, why, certainty, railLeft);
    }
    if (!of.bringsData(stripe)) {
      return true;
    }
    of.move(stripe, State.DOUBTFUL);
    sender.link.endpoint.tasks().defer(telling);
    return false;
  }

  /** The receiver's answer whether a stripe arrived; returns whether it was awaited. */
  boolean answered(int stripe, int ofTry, boolean arrived) {
    if (!transfer.answered(stripe, ofTry, arrived)) {
      return false;
    }
    if (arrived) {
      sender.stripeWritten();
      request.settle();
    } else {
      post(stripe);
    }
    return true;
  }

  @Override
  public void checked() {
    transfer.moveLate();
    if (transfer.askAgain()) {
      sender.link.endpoint.tasks().submit(telling);
    }
  }

  @Override
  public void sent(long cookie, @Nullable Failure why) {
    request.returned();
    if (why != null) {
      fail(why);
      return;
    }
    if (cookie < LENGTH) {
      transfer.move((int) cookie, State.DONE);
    }
    request.settle();
  }

  @Override
  public boolean isWanted(long cookie) {
    return isLive();
  }

  @Override
  public boolean isComplete() {
    return lengthTold && super.isComplete();
  }

  @Override
  public boolean endsByItself() {
    return lengthTold && super.endsByItself();
  }

  @Override
  public String where() {
    return "isend of message %d to %s".formatted(receiveIndex, sender.link.describePeer());
  }

  @Override
  public String missing() {
    String stripes = super.missing();
    return stripes.isEmpty()
        ? "the true length"
        : lengthTold ? stripes : stripes + "; the true length";
  }
}
