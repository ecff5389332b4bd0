package org.jofi.rdma.message;

import org.jofi.fabric.CompletionError;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.PostFlags;
import org.jofi.mr.DataRegistration;
import org.jofi.rdma.endpoint.Failures;
import org.jofi.rdma.endpoint.OperationOwner;
import org.jofi.rdma.endpoint.Posting;
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
 * <p>Three bitmaps of stripes tell how far it is, so that posting again does nothing twice: {@code
 * posted} writes, {@code written} ones that completed and whose immediate data has to be sent, and
 * {@code announced} ones whose immediate data was. It is over when nothing is left to do and no
 * operation is in flight; if it failed, as soon as none is in flight.
 */
final class SendRequest extends Posting implements OperationOwner, SentListener {
  private static final int OTHER = ProtocolLimits.MAX_RAILS;

  private final Sender sender;
  private final int slot;
  private final StripePlan plan = new StripePlan();
  private final long[] keys = new long[ProtocolLimits.MAX_RAILS];
  private @Nullable DataRegistration registration;
  private @Nullable Failure failure;
  private long address;
  private long lengthBytes;
  private long remoteAddress;
  private long messageNumber;
  private int subReceive;
  private boolean isShort;
  private boolean lengthTold;
  private int posted;
  private int written;
  private int announced;
  private int inFlight;
  private boolean posting;

  SendRequest(Sender sender, int slot) {
    this.sender = sender;
    this.slot = slot;
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
    failure = null;
    lengthTold = !isShort;
    posted = 0;
    written = 0;
    announced = 0;
    inFlight = 0;
  }

  StripePlan plan() {
    return plan;
  }

  @Override
  protected boolean post() {
    posting = true;
    boolean done = postAll();
    posting = false;
    settle();
    return done || failure != null;
  }

  private boolean postAll() {
    boolean done = true;
    for (int stripe = 0; stripe < plan.stripes() && failure == null; stripe++) {
      if ((posted & 1 << stripe) == 0) {
        done &= write(stripe);
      }
      if ((written & ~announced & 1 << stripe) != 0) {
        done &= announce(stripe);
      }
    }
    if (!lengthTold && failure == null) {
      inFlight++;
      lengthTold =
          sender.connection().sendTrueLength(messageNumber, subReceive, lengthBytes, this, OTHER);
      if (!lengthTold) {
        inFlight--;
        done = false;
      }
    }
    return done;
  }

  private boolean write(int stripe) {
    DataRegistration memory = registration;
    if (memory == null) {
      return true;
    }
    int rail = plan.rail(stripe);
    RailPort port = sender.connection().data(rail);
    long peer = sender.connection().dataPeer(rail);
    long from = address + plan.offset(stripe);
    long to = remoteAddress + plan.offset(stripe);
    boolean withData = sender.writesData();
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
    posted |= 1 << stripe;
    if (answer == 0) {
      inFlight++;
    } else {
      fail(Failures.ofPost(withData ? "fi_writedata" : "fi_write", port, -answer));
    }
    return true;
  }

  private boolean announce(int stripe) {
    if (!sender.connection().sendImmediate(immediate(stripe), this, stripe)) {
      return false;
    }
    announced |= 1 << stripe;
    inFlight++;
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
    inFlight--;
    if (!sender.writesData() && failure == null) {
      written |= 1 << (int) cookie;
      sender.connection().endpoint().pending().defer(this);
    } else {
      settle();
    }
  }

  @Override
  public void failed(long cookie, RailPort port, CompletionError error) {
    inFlight--;
    fail(Failures.of(port, error));
    settle();
  }

  @Override
  public void sent(long cookie, @Nullable Failure why) {
    inFlight--;
    if (why != null) {
      fail(why);
    }
    settle();
  }

  /** Fails it: it is over once nothing is in flight. */
  void fail(Failure why) {
    if (failure == null) {
      failure = why;
    }
    if (!posting) {
      settle();
    }
  }

  private void settle() {
    DataRegistration memory = registration;
    if (posting || memory == null || inFlight > 0) {
      return;
    }
    int all = (1 << plan.stripes()) - 1;
    boolean done = posted == all && lengthTold && (sender.writesData() || announced == all);
    if (failure != null || done) {
      registration = null;
      memory.endUse();
      sender.over(slot, lengthBytes, failure);
    }
  }
}
