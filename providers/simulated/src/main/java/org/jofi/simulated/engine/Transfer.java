package org.jofi.simulated.engine;

import org.jofi.fabric.PostFlags;
import org.jofi.simulated.memory.Pieces;
import org.jofi.simulated.registration.RegisteredMemory;
import org.jspecify.annotations.Nullable;

/**
 * A posted operation. Pooled: it is in use from the post until nothing is scheduled for it any
 * more.
 */
public final class Transfer {
  long serial;
  boolean live;
  TransferKind kind = TransferKind.SEND;
  @Nullable QueuePair source;
  @Nullable QueuePair target;
  @Nullable Flow flow;

  // The operation that was posted.
  long localAddress;
  long length;
  @Nullable RegisteredMemory localRegion;
  long remoteAddress;
  long key;
  long data;
  boolean hasData;
  int context;
  boolean injected;
  boolean delivery;
  boolean fence;
  long postedAt;

  // Its current state.
  Stage stage = Stage.DEPART;
  int scheduled;

  /** The position of its last event among those with the same time. */
  long order;

  /** The memory that it reads or writes at the target, according to the key when it was served. */
  @Nullable RegisteredMemory targetRegion;

  long staged;
  long stagedBytes;
  final Pieces pieces = new Pieces();
  int batches;
  int landed;
  long landStep;

  /** When the next batch is planned to be written to memory. */
  long landsAt;

  /** How long the data stays in the target's NIC before its first piece is written to memory. */
  long rest;

  @Nullable PostedReceive receive;
  boolean released;
  boolean departed;
  boolean completing;
  boolean completed;
  boolean announced;
  boolean dropped;

  // Its outcome.
  int errno;
  int providerErrno;
  boolean reorder;
  boolean dropData;
  boolean misplace;
  boolean halve;
  boolean early;
  boolean stale;

  /** It fails, but the target does not notice. */
  boolean failsAfterDelivery;

  /** The receive that it is matched with fails. */
  boolean receiveFails;

  void clear() {
    live = false;
    source = null;
    target = null;
    flow = null;
    localRegion = null;
    targetRegion = null;
    receive = null;
    localAddress = 0;
    remoteAddress = 0;
    key = 0;
    data = 0;
    staged = 0;
    stagedBytes = 0;
    stage = Stage.DEPART;
    order = 0;
    batches = 0;
    landed = 0;
    landStep = 0;
    landsAt = 0;
    rest = 0;
    hasData = false;
    injected = false;
    delivery = false;
    fence = false;
    released = false;
    departed = false;
    completing = false;
    completed = false;
    announced = false;
    dropped = false;
    errno = 0;
    providerErrno = 0;
    reorder = false;
    dropData = false;
    misplace = false;
    halve = false;
    early = false;
    stale = false;
    failsAfterDelivery = false;
    receiveFails = false;
  }

  /** The endpoint that posted it. Only while the transfer is in use. */
  QueuePair initiator() {
    QueuePair endpoint = source;
    if (endpoint == null) {
      throw new AssertionError("transfer " + serial + " is not live");
    }
    return endpoint;
  }

  /** The flow that it belongs to. Only while the transfer is in use. */
  Flow way() {
    Flow way = flow;
    if (way == null) {
      throw new AssertionError("transfer " + serial + " is not live");
    }
    return way;
  }

  void fail(int error, int providerError) {
    if (errno == 0) {
      errno = error;
      providerErrno = providerError;
    }
  }

  /** Sets what is done, by whom, and along which flow. */
  public void setOperation(TransferKind operation, QueuePair initiator, Flow along) {
    kind = operation;
    source = initiator;
    flow = along;
  }

  /**
   * Sets what it uses at the initiator until it completes.
   *
   * @param address the local buffer's
   * @param bytes the local buffer's length
   * @param region the region of the local buffer if it has to stay open, or null
   * @param slot the context slot
   */
  public void setLocal(long address, long bytes, @Nullable RegisteredMemory region, int slot) {
    localAddress = address;
    length = bytes;
    localRegion = region;
    context = slot;
  }

  /** Sets which memory of the target is written or read. */
  public void setRemote(long address, long remoteKey) {
    remoteAddress = address;
    key = remoteKey;
  }

  /** Sets the immediate data that the target gets, if any. */
  public void setImmediate(boolean present, long value) {
    hasData = present;
    data = value;
  }

  /** Sets how it is carried out, by the flags of {@link PostFlags}. */
  public void setFlags(long flags) {
    injected = (flags & PostFlags.INJECT) != 0;
    delivery = (flags & PostFlags.DELIVERY_COMPLETE) != 0;
    fence = (flags & PostFlags.FENCE) != 0;
  }

  /** What it is and how far it has got, as text for a dump. */
  void describe(StringBuilder text) {
    QueuePair to = target;
    text.append("  ")
        .append(kind.call)
        .append(" of ")
        .append(length)
        .append(" B, slot ")
        .append(context)
        .append(", posted at ")
        .append(postedAt)
        .append(" ns by ")
        .append(initiator().life())
        .append(to == null ? "" : " to " + to.life())
        .append(", last stage ")
        .append(stage)
        .append(completed ? ", completed" : "")
        .append(errno == 0 ? "" : ", errno " + errno)
        .append('\n');
  }
}
