package org.jofi.rdma.message;

import org.jofi.fabric.CompletionError;
import org.jofi.mr.DataRegistration;
import org.jofi.rdma.endpoint.Failures;
import org.jofi.rdma.endpoint.OperationOwner;
import org.jofi.rdma.endpoint.Posting;
import org.jofi.rdma.endpoint.RailPort;
import org.jofi.rdma.sequence.StripeArrivals;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A receive, or a group of them, whose entries are written to the peer. It is over when each
 * message arrived, with its true length if that is told apart, and the entries' write completed.
 * Used again for the next message of its slot.
 */
final class ReceiveRequest extends Posting implements OperationOwner {
  private static final long UNKNOWN = -1;

  private final Receiver receiver;
  private final int slot;
  private final long[] posted = new long[ProtocolLimits.MAX_GROUP];
  private final long[] lengths = new long[ProtocolLimits.MAX_GROUP];
  private final int[] arrivals = new int[ProtocolLimits.MAX_GROUP];
  private final @Nullable DataRegistration[] memory =
      new @Nullable DataRegistration[ProtocolLimits.MAX_GROUP];
  private @Nullable Failure failure;
  private long messageNumber;
  private int count;
  private int controlRail;
  private int arrived;
  private boolean writing;
  private boolean entriesPosted;
  private boolean active;

  ReceiveRequest(Receiver receiver, int slot) {
    this.receiver = receiver;
    this.slot = slot;
  }

  void start(long number, int receives, int rail) {
    messageNumber = number;
    count = receives;
    controlRail = rail;
    failure = null;
    arrived = 0;
    writing = false;
    entriesPosted = false;
    active = true;
  }

  void expect(int sub, long lengthBytes, DataRegistration registration) {
    posted[sub] = lengthBytes;
    lengths[sub] = UNKNOWN;
    arrivals[sub] = StripeArrivals.NONE;
    memory[sub] = registration;
  }

  long messageNumber() {
    return messageNumber;
  }

  int count() {
    return count;
  }

  /** The true length of a message of a request that is over. */
  long lengthBytes(int sub) {
    return lengths[sub];
  }

  @Override
  protected boolean post() {
    if (entriesPosted || failure != null) {
      settle();
      return true;
    }
    int answer = receiver.writeEntries(this, controlRail, messageNumber, count);
    if (answer == Receiver.AGAIN) {
      return false;
    }
    entriesPosted = true;
    if (answer == 0) {
      writing = true;
    } else {
      fail(Failures.ofPost("fi_write", receiver.connection().control(controlRail), -answer));
    }
    return true;
  }

  @Override
  public void completed(long cookie, long bytes) {
    writing = false;
    settle();
  }

  @Override
  public void failed(long cookie, RailPort port, CompletionError error) {
    writing = false;
    fail(Failures.of(port, error));
  }

  /** A stripe arrived; whether it fits. */
  boolean stripe(int sub, int immediate) {
    if (sub >= count) {
      return false;
    }
    int with = StripeArrivals.add(arrivals[sub], immediate);
    if (with < 0) {
      return false;
    }
    arrivals[sub] = with;
    check(sub);
    return true;
  }

  /** A true length arrived; whether it fits. */
  boolean trueLength(int sub, long lengthBytes) {
    if (sub >= count || lengths[sub] != UNKNOWN || lengthBytes >= posted[sub]) {
      return false;
    }
    lengths[sub] = lengthBytes;
    check(sub);
    return true;
  }

  private void check(int sub) {
    if (!StripeArrivals.isComplete(arrivals[sub]) || (arrived & 1 << sub) != 0) {
      return;
    }
    if (!StripeArrivals.isShort(arrivals[sub])) {
      lengths[sub] = posted[sub];
    }
    if (lengths[sub] != UNKNOWN) {
      arrived |= 1 << sub;
      receiver.messageArrived();
      settle();
    }
  }

  /** Fails it: it is over once its entries' write is back. */
  void fail(Failure why) {
    if (failure == null) {
      failure = why;
    }
    settle();
  }

  private void settle() {
    boolean done = entriesPosted && arrived == (1 << count) - 1;
    if (!active || writing || !(done || failure != null)) {
      return;
    }
    active = false;
    long total = 0;
    for (int sub = 0; sub < count; sub++) {
      total += lengths[sub];
      DataRegistration used = memory[sub];
      if (used != null) {
        memory[sub] = null;
        used.endUse();
      }
    }
    receiver.over(this, slot, total, failure);
  }
}
