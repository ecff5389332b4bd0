package org.jofi.rdma.message;

import java.util.StringJoiner;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.PostFlags;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.endpoint.Failures;
import org.jofi.rdma.endpoint.PeerRails;
import org.jofi.rdma.endpoint.RailPort;
import org.jofi.rdma.endpoint.SentListener;
import org.jofi.rdma.schedule.StripePlan;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A message on its way to a receive: posts its stripes as {@link StripeStates} tells. Used again
 * for the next message of its slot.
 */
class SendRequest extends Request implements SentListener {
  private static final int LENGTH = ProtocolLimits.MAX_RAILS;
  private static final int QUESTION = LENGTH + 1;

  private final Sender sender;
  private final PeerRails rails;
  private final StripePlan plan = new StripePlan();
  private final long[] keys = new long[ProtocolLimits.MAX_RAILS];
  private final StripeStates states = new StripeStates();
  private final DataProgress progress;
  private final DataProgress.Turn turn = new DataProgress.Turn();
  private @Nullable DataRegistration registration;
  private long address;
  private long lengthBytes;
  private long remoteAddress;
  private long receiveIndex;
  private boolean isShort;
  private boolean silent;
  private long toldBytes;
  private boolean lengthTold;

  SendRequest(Sender sender, int slot) {
    this(sender, sender, slot);
  }

  /** A part of a message: what it comes to is that queue's. */
  SendRequest(Sender sender, RequestQueue queue, int slot) {
    super(queue, slot);
    this.sender = sender;
    rails = sender.link().data();
    progress = sender.link().progress();
  }

  void target(long index, long remote, boolean shorter) {
    receiveIndex = index;
    remoteAddress = remote;
    isShort = shorter;
  }

  void key(int rail, long key) {
    keys[rail] = key;
  }

  void start(long from, long bytes, @Nullable DataRegistration memory) {
    address = from;
    lengthBytes = bytes;
    registration = memory;
    toldBytes = bytes;
    silent = false;
    lengthTold = !isShort;
    states.start(plan.stripes());
    turn.open();
    begin();
  }

  /**
   * These bytes are a part of a message that the peer takes whole: only the last is announced.
   *
   * @param messageBytes the true length of the message
   */
  void partOf(long messageBytes, boolean last) {
    toldBytes = messageBytes;
    silent = !last;
  }

  StripePlan plan() {
    return plan;
  }

  boolean is(long index) {
    return isLive() && receiveIndex == index;
  }

  @Override
  protected boolean postAll() {
    boolean all = true;
    for (int stripe = 0; stripe < plan.stripes() && isLive(); stripe++) {
      if (states.isToBePosted(stripe)) {
        all &= write(stripe);
      } else if (states.isToBeAnnounced(stripe)) {
        all &= announce(stripe);
      } else if (states.isToBeAskedFor(stripe)) {
        all &= ask(stripe);
      }
    }
    if (!lengthTold && isLive()) {
      posted();
      lengthTold = sender.link().sendTrueLength(receiveIndex, toldBytes, this, LENGTH);
      if (!lengthTold) {
        returned();
        all = false;
      }
    }
    if (all) {
      progress.set(turn);
    } else {
      turn.open();
    }
    return all;
  }

  private boolean write(int stripe) {
    DataRegistration memory = registration;
    if (memory == null) {
      return true;
    }
    int rail = plan.rail(stripe);
    if (!rails.isUsable(rail)) {
      Failure why = rails.failure();
      rail = rails.after(rail);
      if (rail == PeerRails.NONE) {
        fail(why == null ? Failures.noRail("isend") : why);
        return true;
      }
      plan.moveTo(stripe, rail);
    }
    RailPort port = rails.port(rail);
    long peer = rails.peer(rail);
    long from = address + plan.offset(stripe);
    long to = remoteAddress + plan.offset(stripe);
    boolean withData = carriesData(stripe);
    if (!withData && plan.length(stripe) == 0) {
      // Nothing to deliver; and there are providers that never complete a delivery of nothing.
      states.posted(stripe);
      if (silent) {
        states.done(stripe);
        return true;
      }
      states.written(stripe);
      return announce(stripe);
    }
    int answer =
        withData
            ? port.writeData(
                this,
                stripe,
                from,
                plan.length(stripe),
                memory.descriptor(rail),
                immediate(stripe),
                peer,
                to,
                keys[rail])
            : port.write(
                this,
                stripe,
                from,
                plan.length(stripe),
                memory.descriptor(rail),
                peer,
                to,
                keys[rail],
                PostFlags.DELIVERY_COMPLETE);
    if (answer == -FabricErrno.EAGAIN) {
      return false;
    }
    states.tried(stripe);
    if (answer == 0) {
      states.posted(stripe);
      progress.post(rail);
      posted();
      return true;
    }
    // Nothing was posted: there is no doubt.
    return !moveOn(
        stripe, rail, Failures.ofPost(withData ? "fi_writedata" : "fi_write", port, -answer));
  }

  /** Whether a stripe is written with its immediate data. */
  private boolean carriesData(int stripe) {
    return sender.writesData() && !silent && !states.isRepeated(stripe);
  }

  /** Takes another rail after a failure; fails if there is none. */
  private boolean moveOn(int stripe, int rail, Failure why) {
    int other = rails.retry(rail, why, states.tries(stripe));
    if (other == PeerRails.NONE) {
      fail(why);
      return false;
    }
    plan.moveTo(stripe, other);
    return true;
  }

  private boolean announce(int stripe) {
    int immediate = immediate(stripe);
    boolean sent =
        states.isRepeated(stripe)
            ? sender.link().sendWritten(receiveIndex, immediate, this, stripe)
            : sender.link().sendImmediate(immediate, this, stripe);
    if (!sent) {
      return false;
    }
    states.announced(stripe);
    posted();
    return true;
  }

  private boolean ask(int stripe) {
    if (!sender.link().sendAsk(receiveIndex, stripe, states.tries(stripe), this, QUESTION)) {
      return false;
    }
    states.asked(stripe);
    posted();
    return true;
  }

  private int immediate(int stripe) {
    return ImmediateData.of(
        stripe, plan.stripes() - 1, isShort, sender.link().id().to(), receiveIndex);
  }

  @Override
  public void completed(long cookie, long bytes) {
    returned();
    int stripe = (int) cookie;
    progress.complete(plan.rail(stripe));
    if (carriesData(stripe)) {
      sender.stripeWritten();
    }
    if (silent || carriesData(stripe)) {
      states.done(stripe);
      settle();
    } else if (isLive()) {
      states.written(stripe);
      sender.link().endpoint().pending().defer(this);
    } else {
      settle();
    }
  }

  @Override
  public void failed(long cookie, RailPort port, CompletionError error) {
    returned();
    int stripe = (int) cookie;
    Failure why = Failures.of(port, error);
    if (isLive() && (!mayRepeat(cookie) || sender.failure() != null)) {
      fail(why);
      return;
    }
    if (!isLive() || !moveOn(stripe, port.number(), why)) {
      settle();
      return;
    }
    if (carriesData(stripe)) {
      states.doubtful(stripe);
    } else {
      states.failed(stripe);
    }
    sender.link().endpoint().pending().defer(this);
  }

  /** The receiver told whether a stripe arrived; whether that was asked. */
  boolean answered(int stripe, int ofTry, boolean arrived) {
    if (!states.answered(stripe, ofTry, arrived)) {
      return false;
    }
    if (arrived) {
      settle();
    } else {
      sender.link().endpoint().pending().submit(this);
    }
    return true;
  }

  @Override
  protected long progress() {
    return progress.before(turn);
  }

  @Override
  protected void checked() {
    int late = states.takeLate();
    for (int stripe = 0; stripe < plan.stripes(); stripe++) {
      if ((late & 1 << stripe) != 0) {
        // A rail may take nothing while others do.
        int rail = rails.after(plan.rail(stripe));
        plan.moveTo(stripe, rail == PeerRails.NONE ? plan.rail(stripe) : rail);
      }
    }
    if (states.askAgain()) {
      sender.link().endpoint().pending().submit(this);
    }
  }

  @Override
  public void sent(long cookie, @Nullable Failure why) {
    returned();
    if (why != null) {
      fail(why);
      return;
    }
    if (cookie < LENGTH) {
      states.done((int) cookie);
    }
    settle();
  }

  @Override
  public boolean isWanted(long cookie) {
    return isLive();
  }

  @Override
  protected boolean isComplete() {
    return states.allDone() && lengthTold;
  }

  @Override
  protected boolean endsByItself() {
    for (int stripe = 0; stripe < plan.stripes(); stripe++) {
      if (!states.endsByItself(stripe, silent || carriesData(stripe))) {
        return false;
      }
    }
    return lengthTold;
  }

  @Override
  protected boolean isTimed() {
    return true;
  }

  @Override
  protected boolean isExposed() {
    return false;
  }

  @Override
  protected long movedBytes() {
    return lengthBytes;
  }

  @Override
  protected void endUse() {
    DataRegistration memory = registration;
    if (memory != null) {
      registration = null;
      memory.endUse();
    }
  }

  @Override
  protected String where() {
    return "isend of message %d to %s".formatted(receiveIndex, sender.link().describePeer());
  }

  @Override
  protected String missing() {
    StringJoiner text = new StringJoiner("; ");
    for (int stripe = 0; stripe < plan.stripes(); stripe++) {
      if (!states.isDone(stripe)) {
        text.add(
            "stripe %d of %d on %s, %s"
                .formatted(
                    stripe,
                    plan.stripes(),
                    rails.port(plan.rail(stripe)).label(),
                    states.describe(stripe)));
      }
    }
    if (states.allDone() || !lengthTold) {
      text.add("the true length");
    }
    return text.toString();
  }
}
