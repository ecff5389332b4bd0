package org.jofi.simulated;

import org.jspecify.annotations.Nullable;

/** An operation on its way. Pooled; one life from a post until nothing is scheduled for it. */
final class Transfer {
  long serial;
  boolean live;
  TransferKind kind = TransferKind.SEND;
  @Nullable SimulatedEndpoint source;
  @Nullable SimulatedEndpoint target;
  @Nullable Flow flow;

  // What was posted.
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

  // Where it stands.
  Stage stage = Stage.DEPART;
  int scheduled;

  /** The place of its last event among those of one time. */
  long order;

  /** What it reads from or writes to at the target, as the key said when it was served. */
  @Nullable RegisteredMemory targetRegion;

  long staged;
  long stagedBytes;
  final Pieces pieces = new Pieces();
  int batches;
  int landed;
  long landStep;

  /** When the next batch lands, as planned. */
  long landsAt;

  /** How long the data rests behind the target's NIC before its first piece lands. */
  long rest;

  @Nullable PostedReceive receive;
  boolean released;
  boolean departed;
  boolean completing;
  boolean completed;
  boolean announced;
  boolean dropped;

  // How it fares.
  int errno;
  int providerErrno;
  boolean reorder;
  boolean dropData;
  boolean misplace;
  boolean halve;
  boolean early;
  boolean stale;

  /** Fails, though the target notices nothing. */
  boolean failsAfterDelivery;

  /** The receive that it was matched with fails. */
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

  /** The endpoint that posted it, while it is live. */
  SimulatedEndpoint initiator() {
    SimulatedEndpoint endpoint = source;
    if (endpoint == null) {
      throw new AssertionError("transfer " + serial + " is not live");
    }
    return endpoint;
  }

  /** The way it takes, while it is live. */
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
}
