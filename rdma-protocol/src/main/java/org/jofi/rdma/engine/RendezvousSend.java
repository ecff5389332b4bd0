package org.jofi.rdma.engine;

import java.util.StringJoiner;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A message that is written into the memory of a receive. {@link StripeStates} says what each
 * stripe needs; what the writes cannot tell the receiver goes in control messages.
 */
class RendezvousSend extends RequestStrategy implements SentListener {
  private static final int LENGTH = ProtocolLimits.MAX_STRIPES;
  private static final int QUESTION = LENGTH + 1;

  /** All stripes, those to come included. */
  private static final int EACH = -1;

  private final Sender sender;
  private final Transfer transfer;
  private final StripeStates states = new StripeStates();
  private final Task telling = new Telling();
  private long lengthBytes;
  private long receiveIndex;
  private long chunk;
  private boolean isShort;
  private boolean silent;
  private long toldBytes;
  private boolean lengthTold;
  private boolean cutShort;

  RendezvousSend(Sender sender, Request request) {
    super(request);
    this.sender = sender;
    transfer = sender.link().sink().overData(this);
  }

  /** Tells the receiver what its stripes do not. */
  private final class Telling extends Task {
    @Override
    protected boolean advance() {
      return !isLive() || tell();
    }
  }

  /**
   * Its receive.
   *
   * @param shorter whether the message does not fill it
   */
  void target(long index, boolean shorter) {
    target(index, 0, shorter);
  }

  /**
   * A chunk of a staged receive.
   *
   * @param index of the entry that offered room for it
   * @param which chunk, from 0
   * @param shorter whether it does not fill that
   */
  void target(long index, long which, boolean shorter) {
    receiveIndex = index;
    chunk = which;
    isShort = shorter;
  }

  /** The memory of its receive, as a rail reaches it. */
  void remote(int rail, long address, long key) {
    transfer.remote(rail, address, key);
  }

  /** Starts a message. */
  void start(long from, long bytes, DataRegistration memory) {
    start(from, bytes, memory, bytes, true);
  }

  /**
   * Starts a message, or a part of one that the peer takes whole: only the last is announced.
   *
   * @param messageBytes the true length of the message
   */
  void start(long from, long bytes, DataRegistration memory, long messageBytes, boolean last) {
    lengthBytes = bytes;
    lease(memory);
    toldBytes = messageBytes;
    silent = !last;
    lengthTold = !isShort;
    transfer.begin(Transfer.Kind.WRITE, from, memory);
    states.start();
    cutShort = false;
    request().begin(this);
    boolean bringsData = sender.writesData() && last;
    if (bringsData) {
      transfer.withData(EACH);
    } else {
      transfer.completeOnDelivery(EACH);
    }
    if (bytes > 0) {
      transfer.spread(bytes);
      sender.link().submit(transfer);
    } else {
      startEmpty(bringsData, last);
    }
    if (!lengthTold && isLive()) {
      sender.link().submit(telling);
    }
  }

  /** One stripe of nothing. */
  private void startEmpty(boolean bringsData, boolean last) {
    transfer.part(0, 0, 0);
    states.add(0);
    if (bringsData) {
      post(1);
    } else if (last) {
      writtenAlready(0);
    } else {
      states.done(0);
      request().settle();
    }
  }

  @Override
  public void bound(Transfer of, int stripe) {
    request().begun(1);
    states.add(stripe);
  }

  private void post(int stripes) {
    add(transfer, stripes);
    sender.link().submit(transfer);
  }

  /**
   * A stripe of nothing, without immediate data, delivers nothing; and there are providers that
   * never complete such a delivery.
   */
  private void writtenAlready(int stripe) {
    states.written(stripe);
    sender.link().submit(telling);
  }

  /** Its receive. */
  long receiveIndex() {
    return receiveIndex;
  }

  /** The true length of its message. */
  long lengthTold() {
    return toldBytes;
  }

  /** Whether that is its receive, and its chunk of it, and it is not over. */
  boolean is(long index, long which) {
    return isLive() && receiveIndex == index && chunk == which;
  }

  /** Whether a write that was posted and failed may be posted again. */
  boolean mayWriteAgain(Certainty certainty) {
    return true;
  }

  /**
   * Whether its index stands for it alone, so that immediate data which arrive twice change
   * nothing.
   */
  boolean ownsIndex() {
    return true;
  }

  /** Sends what is to be sent; whether there were buffers for all. */
  private boolean tell() {
    boolean all = true;
    for (int stripe = 0; stripe < transfer.stripes() && isLive(); stripe++) {
      if (states.isToBeAnnounced(stripe)) {
        all &= announce(stripe);
      } else if (states.isToBeAskedFor(stripe)) {
        all &= ask(stripe);
      }
    }
    if (!lengthTold && isLive()) {
      request().begun(1);
      lengthTold = sent(sender.link().sendTrueLength(receiveIndex, toldBytes, chunk, this, LENGTH));
      all &= lengthTold;
    }
    if (transfer.toPost() == 0 && transfer.isBound()) {
      transfer.takeTurn();
    }
    return all;
  }

  private boolean announce(int stripe) {
    int immediate = immediate(transfer, stripe);
    request().begun(1);
    boolean sent =
        sent(
            (states.isRepeated(stripe) || !ownsIndex())
                ? sender.link().sendWritten(receiveIndex, immediate, chunk, this, stripe)
                : sender.link().sendImmediate(immediate, this, stripe));
    if (sent) {
      states.announced(stripe);
    }
    return sent;
  }

  private boolean ask(int stripe) {
    request().begun(1);
    boolean sent =
        sent(
            sender
                .link()
                .sendAsk(receiveIndex, stripe, transfer.tries(stripe), chunk, this, QUESTION));
    if (sent) {
      states.asked(stripe);
    }
    return sent;
  }

  /** A message counts as under way before it is sent, since it may fail in doing so. */
  private boolean sent(boolean sent) {
    if (!sent) {
      request().returned(1);
    }
    return sent;
  }

  @Override
  public int immediate(Transfer of, int stripe) {
    return ImmediateData.of(
        stripe,
        of.isBound() && stripe == of.stripes() - 1,
        isShort,
        sender.link().id().to(),
        receiveIndex);
  }

  @Override
  public void completed(Transfer of, int stripe) {
    request().returned(1);
    if (of.bringsData(stripe)) {
      sender.stripeWritten();
      states.done(stripe);
    } else if (silent) {
      states.done(stripe);
    } else if (isLive()) {
      states.written(stripe);
      sender.link().sink().tasks().defer(telling);
    }
    request().settle();
  }

  @Override
  public boolean failed(
      Transfer of, int stripe, Failure why, Certainty certainty, boolean railLeft) {
    if (mayPostAgain(certainty, railLeft)) {
      return true;
    }
    if (!isLive() || !railLeft || !mayWriteAgain(certainty) || sender.failure() != null) {
      return super.failed(of, stripe, why, certainty, railLeft);
    }
    if (!of.bringsData(stripe)) {
      return true;
    }
    request().returned(1);
    states.doubtful(stripe);
    sender.link().sink().tasks().defer(telling);
    return false;
  }

  /** The receiver's answer whether a stripe arrived; returns whether it was awaited. */
  boolean answered(int stripe, int ofTry, boolean arrived) {
    if (!states.isDoubtful(stripe) || transfer.tries(stripe) != ofTry) {
      return false;
    }
    states.answered(stripe, arrived);
    if (arrived) {
      sender.stripeWritten();
      request().settle();
      return true;
    }
    transfer.withData(transfer.withData() & ~(1 << stripe));
    transfer.completeOnDelivery(1 << stripe);
    if (transfer.lengthBytes(stripe) > 0) {
      post(1 << stripe);
    } else {
      writtenAlready(stripe);
    }
    return true;
  }

  @Override
  long progress() {
    return transfer.progress();
  }

  @Override
  void checked() {
    transfer.moveLate();
    if (states.askAgain()) {
      sender.link().sink().tasks().submit(telling);
    }
  }

  @Override
  public void sent(long cookie, @Nullable Failure why) {
    request().returned(1);
    if (why != null) {
      fail(why);
      return;
    }
    if (cookie < LENGTH) {
      states.done((int) cookie);
    }
    request().settle();
  }

  @Override
  public boolean isWanted(long cookie) {
    return isLive();
  }

  @Override
  void cut() {
    // What was cut and is dropped now is never done; of what was not cut nothing else tells.
    cutShort = !transfer.isBound();
    drop(transfer);
  }

  @Override
  boolean isComplete() {
    return !cutShort && transfer.isBound() && states.allDone() && lengthTold;
  }

  @Override
  boolean endsByItself() {
    int byWrite = silent ? transfer.all() : transfer.withData();
    return transfer.isBound()
        && states.endingByThemselves(transfer.all() & ~transfer.toPost(), byWrite) == transfer.all()
        && lengthTold;
  }

  @Override
  boolean isTimed() {
    return true;
  }

  @Override
  long movedBytes() {
    return lengthBytes;
  }

  @Override
  String where() {
    return "isend of message %d to %s".formatted(receiveIndex, sender.link().describePeer());
  }

  @Override
  String missing() {
    StringJoiner text = new StringJoiner("; ");
    for (int stripe = 0; stripe < transfer.stripes(); stripe++) {
      if (!states.isDone(stripe)) {
        text.add(
            "stripe %d of %d on %s, %s"
                .formatted(
                    stripe,
                    transfer.stripes(),
                    transfer.railLabel(stripe),
                    states.describe(stripe, !transfer.isToBePosted(stripe))));
      }
    }
    if (!transfer.isBound()) {
      text.add("the rest, for which no rail had room");
    } else if (states.allDone() || !lengthTold) {
      text.add("the true length");
    }
    return text.toString();
  }
}
