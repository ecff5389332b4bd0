package org.jofi.rdma.engine;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.operation.Transfer.State;
import org.jofi.rdma.request.StripedRequest;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A message that is written into the memory of a receive. Its stripes say what each of them needs;
 * what the writes cannot tell the receiver goes in control messages.
 */
final class RendezvousSend extends StripedRequest implements SentListener {
  private static final int LENGTH = ProtocolLimits.MAX_STRIPES;
  private static final int QUESTION = LENGTH + 1;

  private final Sender sender;
  private final PostedSend posting;
  private final Task telling = new Telling();

  /** The blocks that it is staged through; null if it is not. */
  private @Nullable StagingRing ring;

  private boolean isShort;
  private boolean lengthTold;

  RendezvousSend(Sender sender, PostedSend posting) {
    super(posting.request, sender.link.sink);
    this.sender = sender;
    this.posting = posting;
  }

  private final class Telling extends Task {
    @Override
    protected boolean advance() {
      return !isLive() || tell();
    }
  }

  void remote(int rail, long address, long key) {
    transfer.remote(rail, address, key);
  }

  /**
   * Writes a message, or the last bytes of it, with which the receive is over.
   *
   * @param shorter whether it does not fill its receive
   * @param blocks that it is staged through, which it gives back; null if it is not
   */
  void start(
      boolean shorter,
      long from,
      long bytes,
      DataRegistration memory,
      @Nullable StagingRing blocks) {
    isShort = shorter;
    lengthBytes = posting.lengthBytes;
    lease = memory;
    ring = blocks;
    lengthTold = !isShort;
    request.begin(this);
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
      lengthTold = tell(MessageType.TRUE_LENGTH, lengthBytes, LENGTH);
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
    boolean sent;
    if (sender.writesData) {
      // Only what was missing is announced apart where writes tell of themselves.
      sent = tell(MessageType.WRITTEN, Integer.toUnsignedLong(immediate), stripe);
    } else {
      request.begun();
      sent = sent(sender.link.sendImmediate(immediate, this, stripe));
    }
    if (!sent) {
      transfer.move(stripe, State.WRITTEN);
    }
    return sent;
  }

  private boolean ask(int stripe) {
    long which = ControlMessage.ofStripe(stripe, transfer.tries(stripe), false);
    boolean sent = tell(MessageType.ASK, which, QUESTION);
    if (sent) {
      transfer.move(stripe, State.ASKED);
    }
    return sent;
  }

  private boolean tell(MessageType type, long value, long cookie) {
    request.begun();
    return sent(sender.link.tell(type, posting.index, value, this, cookie));
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
        posting.index);
  }

  @Override
  public void completed(Transfer of, int stripe) {
    if (of.bringsData(stripe)) {
      sender.stripesWritten++;
    } else if (isLive()) {
      sender.link.endpoint.tasks().defer(telling);
    }
    request.settle();
  }

  @Override
  public boolean failed(
      Transfer of, int stripe, Failure why, Certainty certainty, boolean railLeft) {
    if (isLive() && railLeft && certainty == Certainty.NOT_EXECUTED) {
      return true;
    }
    if (!isLive() || !railLeft || sender.failure() != null) {
      fail(why);
      return false;
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
      sender.stripesWritten++;
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
  public void endUse() {
    super.endUse();
    StagingRing.give(ring);
    ring = null;
  }

  @Override
  public String where() {
    return sender.where(posting.index);
  }

  @Override
  public String missing() {
    String stripes = super.missing();
    return stripes.isEmpty()
        ? "the true length"
        : lengthTold ? stripes : stripes + "; the true length";
  }
}
