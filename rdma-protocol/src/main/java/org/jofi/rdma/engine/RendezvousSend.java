package org.jofi.rdma.engine;

import java.util.StringJoiner;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MessageType;
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

  final Sender sender;
  private final Transfer transfer;
  private final StripeStates states = new StripeStates();
  private final Task telling = new Telling();
  private long lengthBytes;
  private long receiveIndex;
  private boolean isShort;
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
  final void target(long index, boolean shorter) {
    receiveIndex = index;
    isShort = shorter;
  }

  /** The memory of its receive, as a rail reaches it. */
  final void remote(int rail, long address, long key) {
    transfer.remote(rail, address, key);
  }

  /** Starts a message. */
  final void start(long from, long bytes, DataRegistration memory) {
    begin(bytes, memory);
    write(from, bytes, memory);
  }

  /** Begins a message of so many bytes: nothing is written yet. */
  final void begin(long messageBytes, DataRegistration memory) {
    lengthBytes = messageBytes;
    lease = memory;
    lengthTold = !isShort;
    cutShort = false;
    states.start();
    request().begin(this);
  }

  /** Writes the message, or the last of it, with which the receive is over. */
  final void write(long from, long bytes, DataRegistration memory) {
    transfer.begin(Transfer.Kind.WRITE, from, memory);
    if (sender.writesData()) {
      transfer.withData(EACH);
    } else {
      transfer.completeOnDelivery(EACH);
    }
    if (bytes > 0) {
      transfer.spread(bytes);
      sender.link().submit(transfer);
    } else {
      startEmpty();
    }
    if (!lengthTold && isLive()) {
      sender.link().submit(telling);
    }
  }

  /** One stripe of nothing. */
  private void startEmpty() {
    transfer.part(0, 0, 0);
    states.add(0);
    if (sender.writesData()) {
      post(1);
    } else {
      writtenAlready(0);
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
  final long receiveIndex() {
    return receiveIndex;
  }

  /** Whether that is its receive, and it is not over. */
  final boolean is(long index) {
    return isLive() && receiveIndex == index;
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
      lengthTold =
          sent(
              sender.link().tell(MessageType.TRUE_LENGTH, receiveIndex, lengthBytes, this, LENGTH));
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
            states.isRepeated(stripe)
                ? sender.link().sendWritten(receiveIndex, immediate, this, stripe)
                : sender.link().sendImmediate(immediate, this, stripe));
    if (sent) {
      states.announced(stripe);
    }
    return sent;
  }

  private boolean ask(int stripe) {
    request().begun(1);
    boolean sent =
        sent(sender.link().sendAsk(receiveIndex, stripe, transfer.tries(stripe), this, QUESTION));
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
    if (!isLive() || !railLeft || sender.failure() != null) {
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
    return transfer.isBound()
        && states.endingByThemselves(transfer.all() & ~transfer.toPost(), transfer.withData())
            == transfer.all()
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
