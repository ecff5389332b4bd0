package org.jofi.rdma.message;

import java.util.StringJoiner;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.PostFlags;
import org.jofi.mr.DataRegistration;
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
 * A message on its way to a receive. Used again for the next message of its slot.
 *
 * <p>Bitmaps of stripes tell how far it is, so that posting again does nothing twice:
 *
 * <pre>
 * write with immediate data:  posted --&gt; done
 * write, then announcement:   posted --&gt; written --&gt; announced --&gt; done
 * such a write failed:        to be posted again
 * one with data failed:       posted --&gt; doubtful --&gt; asked --&gt; done
 *                                                     \--&gt; again: to be posted, then announced
 * </pre>
 *
 * <p><b>Why a failed write is asked about.</b> It may have arrived whole, with its immediate data.
 * Then the receiver may have reported the message, and its memory may hold something else by the
 * time that a second write lands. A receiver that answers that it lacks the stripe does not count
 * its immediate data any more, however late that comes, but only the message which says that the
 * stripe was written again: until then the same bytes may be written to the same place as often as
 * need be. A write that is announced apart is safe without asking: nobody was told of it.
 */
class SendRequest extends Request implements SentListener {
  private static final int LENGTH = ProtocolLimits.MAX_RAILS;
  private static final int QUESTION = LENGTH + 1;

  private final Sender sender;
  private final PeerRails rails;
  private final StripePlan plan = new StripePlan();
  private final long[] keys = new long[ProtocolLimits.MAX_RAILS];
  private final int[] tries = new int[ProtocolLimits.MAX_RAILS];
  private @Nullable DataRegistration registration;
  private long address;
  private long lengthBytes;
  private long remoteAddress;
  private long messageNumber;
  private int subReceive;
  private boolean isShort;
  private boolean silent;
  private long toldBytes;
  private boolean lengthTold;
  private int posted;
  private int written;
  private int announced;
  private int doubtful;
  private int asked;
  private int again;
  private int done;
  private int late;

  SendRequest(Sender sender, int slot) {
    this(sender, sender, slot);
  }

  /** A part of a message: what it comes to is that direction's. */
  SendRequest(Sender sender, Direction direction, int slot) {
    super(direction, slot);
    this.sender = sender;
    rails = sender.connection().data();
  }

  void target(long number, int sub, long remote, boolean shorter) {
    messageNumber = number;
    subReceive = sub;
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
    posted = 0;
    written = 0;
    announced = 0;
    doubtful = 0;
    asked = 0;
    again = 0;
    done = 0;
    late = 0;
    for (int stripe = 0; stripe < tries.length; stripe++) {
      tries[stripe] = 0;
    }
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

  boolean is(long number, int sub) {
    return isLive() && messageNumber == number && subReceive == sub;
  }

  @Override
  protected boolean postAll() {
    boolean all = true;
    for (int stripe = 0; stripe < plan.stripes() && isLive(); stripe++) {
      int bit = 1 << stripe;
      if ((posted & bit) == 0) {
        all &= write(stripe);
      } else if ((written & ~announced & bit) != 0) {
        all &= announce(stripe);
      } else if ((doubtful & ~asked & bit) != 0) {
        all &= ask(stripe);
      }
    }
    if (!lengthTold && isLive()) {
      posted();
      lengthTold =
          sender.connection().sendTrueLength(messageNumber, subReceive, toldBytes, this, LENGTH);
      if (!lengthTold) {
        returned();
        all = false;
      }
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
    boolean withData = carriesData(1 << stripe);
    if (!withData && plan.length(stripe) == 0) {
      // Nothing to deliver; and there are providers that never complete a delivery of nothing.
      posted |= 1 << stripe;
      if (silent) {
        done |= 1 << stripe;
        return true;
      }
      written |= 1 << stripe;
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
    tries[stripe]++;
    if (answer == 0) {
      posted |= 1 << stripe;
      posted();
      return true;
    }
    // Nothing was posted: there is no doubt.
    return !moveOn(
        stripe, rail, Failures.ofPost(withData ? "fi_writedata" : "fi_write", port, -answer));
  }

  /** Whether a stripe is written with its immediate data. */
  private boolean carriesData(int bit) {
    return sender.writesData() && !silent && (again & bit) == 0;
  }

  /** Takes another rail after a failure; fails if there is none. */
  private boolean moveOn(int stripe, int rail, Failure why) {
    int other = rails.retry(rail, why, tries[stripe]);
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
        (again & 1 << stripe) != 0
            ? sender.connection().sendWritten(messageNumber, immediate, this, stripe)
            : sender.connection().sendImmediate(immediate, this, stripe);
    if (!sent) {
      return false;
    }
    announced |= 1 << stripe;
    posted();
    return true;
  }

  private boolean ask(int stripe) {
    if (!sender
        .connection()
        .sendAsk(messageNumber, subReceive, stripe, tries[stripe], this, QUESTION)) {
      return false;
    }
    asked |= 1 << stripe;
    posted();
    return true;
  }

  private int immediate(int stripe) {
    return ImmediateData.of(
        stripe,
        plan.stripes() - 1,
        isShort,
        subReceive,
        sender.connection().parties().to(),
        messageNumber);
  }

  @Override
  public void completed(long cookie, long bytes) {
    returned();
    int stripe = 1 << (int) cookie;
    if (silent || carriesData(stripe)) {
      done |= stripe;
      settle();
    } else if (isLive()) {
      written |= stripe;
      sender.connection().endpoint().pending().defer(this);
    } else {
      settle();
    }
  }

  @Override
  public void failed(long cookie, RailPort port, CompletionError error) {
    returned();
    int stripe = (int) cookie;
    Failure why = Failures.of(port, error);
    if (isLive() && !mayRepeat(cookie)) {
      fail(why);
      return;
    }
    if (!isLive() || !moveOn(stripe, port.number(), why)) {
      settle();
      return;
    }
    if (carriesData(1 << stripe)) {
      doubtful |= 1 << stripe;
    } else {
      posted &= ~(1 << stripe);
    }
    sender.connection().endpoint().pending().defer(this);
  }

  /** The receiver told whether a stripe arrived; whether that was asked. */
  boolean answered(int stripe, int ofTry, boolean arrived) {
    int bit = 1 << stripe;
    if ((doubtful & bit) == 0 || tries[stripe] != ofTry) {
      return false;
    }
    doubtful &= ~bit;
    asked &= ~bit;
    if (arrived) {
      done |= bit;
      settle();
    } else {
      again |= bit;
      posted &= ~bit;
      sender.connection().endpoint().pending().submit(this);
    }
    return true;
  }

  @Override
  protected void checked() {
    // A question or its answer may be lost, and a rail may take nothing while others do.
    asked &= ~doubtful;
    int waiting = (1 << plan.stripes()) - 1 & ~posted;
    for (int stripe = 0; stripe < plan.stripes(); stripe++) {
      if ((waiting & late & 1 << stripe) != 0) {
        int rail = rails.after(plan.rail(stripe));
        plan.moveTo(stripe, rail == PeerRails.NONE ? plan.rail(stripe) : rail);
      }
    }
    late = waiting;
    if (doubtful != 0) {
      sender.connection().endpoint().pending().submit(this);
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
      done |= 1 << (int) cookie;
    }
    settle();
  }

  @Override
  public boolean isWanted(long cookie) {
    return isLive();
  }

  @Override
  protected boolean isComplete() {
    return done == (1 << plan.stripes()) - 1 && lengthTold;
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
    return "isend of message %d.%d to %s"
        .formatted(messageNumber, subReceive, sender.connection().describePeer());
  }

  @Override
  protected String missing() {
    StringJoiner text = new StringJoiner("; ");
    for (int stripe = 0; stripe < plan.stripes(); stripe++) {
      if ((done & 1 << stripe) == 0) {
        text.add(
            "stripe %d of %d on %s, %s"
                .formatted(
                    stripe, plan.stripes(), rails.port(plan.rail(stripe)).label(), state(stripe)));
      }
    }
    if (done == (1 << plan.stripes()) - 1 || !lengthTold) {
      text.add("the true length");
    }
    return text.toString();
  }

  private String state(int stripe) {
    int bit = 1 << stripe;
    if ((posted & bit) == 0) {
      return "not taken by the provider";
    }
    if ((doubtful & bit) != 0) {
      return "failed, and the peer did not tell whether it arrived";
    }
    if ((announced & bit) != 0) {
      return "announced, not completed";
    }
    return (written & bit) != 0 ? "written, not announced" : "posted, not completed";
  }
}
