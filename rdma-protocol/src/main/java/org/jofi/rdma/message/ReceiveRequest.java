package org.jofi.rdma.message;

import java.util.StringJoiner;
import org.jofi.fabric.CompletionError;
import org.jofi.mr.DataRegistration;
import org.jofi.rdma.endpoint.Failures;
import org.jofi.rdma.endpoint.PeerRails;
import org.jofi.rdma.endpoint.RailPort;
import org.jofi.rdma.sequence.StripeArrivals;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A receive, or a group of them, whose entries are written to the peer. It is over when each
 * message arrived, with its true length if that is told apart, and the entries' write completed.
 *
 * <p>Its bound runs while some of a message arrived and some did not. Once its entries were posted,
 * the peer may write into its memory: if it fails, its lease lasts until the peer is done.
 */
final class ReceiveRequest extends Request implements Incoming {
  private static final long UNKNOWN = -1;

  private final Receiver receiver;
  private final long[] posted = new long[ProtocolLimits.MAX_GROUP];
  private final long[] lengths = new long[ProtocolLimits.MAX_GROUP];
  private final int[] arrivals = new int[ProtocolLimits.MAX_GROUP];
  private final int[] rewritten = new int[ProtocolLimits.MAX_GROUP];
  private final @Nullable DataRegistration[] memory =
      new @Nullable DataRegistration[ProtocolLimits.MAX_GROUP];
  private long messageNumber;
  private int count;
  private int controlRail;
  private int arrived;
  private int tries;
  private boolean writing;
  private boolean entriesPosted;
  private boolean offered;

  ReceiveRequest(Receiver receiver, int slot) {
    super(receiver, slot);
    this.receiver = receiver;
  }

  void start(long number, int receives) {
    messageNumber = number;
    count = receives;
    controlRail = receiver.connection().control().next();
    tries = 0;
    arrived = 0;
    writing = false;
    entriesPosted = false;
    offered = false;
    begin();
  }

  void expect(int sub, long lengthBytes, DataRegistration registration) {
    posted[sub] = lengthBytes;
    lengths[sub] = UNKNOWN;
    arrivals[sub] = StripeArrivals.NONE;
    rewritten[sub] = 0;
    memory[sub] = registration;
  }

  @Override
  public long messageNumber() {
    return messageNumber;
  }

  @Override
  public int count() {
    return count;
  }

  /** The true length of a message of a request that is over. */
  @Override
  public long lengthBytes(int sub) {
    return lengths[sub];
  }

  @Override
  protected boolean postAll() {
    PeerRails rails = receiver.connection().control();
    while (!entriesPosted && isLive()) {
      controlRail = rails.thatOrAnother(controlRail);
      if (controlRail == PeerRails.NONE) {
        Failure why = rails.failure();
        fail(why == null ? Failures.noRail("irecv") : why);
        return true;
      }
      int answer = receiver.writeEntries(this, controlRail, messageNumber, count, tries > 0);
      if (answer == Receiver.AGAIN) {
        controlRail = rails.next();
        return false;
      }
      tries++;
      if (answer == 0) {
        posted();
        entriesPosted = true;
        writing = true;
      } else {
        moveOn(controlRail, Failures.ofPost("fi_write", rails.port(controlRail), -answer));
      }
    }
    return true;
  }

  /** Takes another rail after a failure; fails if there is none. */
  private boolean moveOn(int rail, Failure why) {
    controlRail = receiver.connection().control().retry(rail, why, tries);
    if (controlRail == PeerRails.NONE) {
      controlRail = rail;
      fail(why);
      return false;
    }
    return true;
  }

  @Override
  public void failed(long cookie, RailPort port, CompletionError error) {
    returned();
    writing = false;
    if (isLive() && moveOn(port.number(), Failures.of(port, error))) {
      // The same bytes to the same slot, which no other message uses before this one is over.
      entriesPosted = false;
      receiver.connection().endpoint().pending().defer(this);
    } else {
      settle();
    }
  }

  @Override
  public void writeAgain() {
    int rail = receiver.connection().control().after(controlRail);
    if (isLive() && tries < PeerRails.TRIES && rail != PeerRails.NONE) {
      controlRail = rail;
      entriesPosted = false;
      receiver.connection().endpoint().pending().submit(this);
    }
  }

  @Override
  public boolean isWritten() {
    return entriesPosted && !writing;
  }

  /**
   * {@inheritDoc}
   *
   * <p>If it is missing its immediate data counts no more: the sender writes it again, and what is
   * late must not complete the message while that is under way.
   */
  @Override
  public int hasStripe(int sub, int stripe) {
    if (sub >= count || StripeArrivals.has(arrivals[sub], stripe)) {
      return Receiver.ARRIVED;
    }
    rewritten[sub] |= 1 << stripe;
    return Receiver.MISSING;
  }

  @Override
  public boolean written(int sub, int immediate) {
    if (sub >= count) {
      return false;
    }
    rewritten[sub] &= ~(1 << ImmediateData.stripe(immediate));
    return stripe(sub, immediate);
  }

  @Override
  public void completed(long cookie, long bytes) {
    returned();
    writing = false;
    if (!offered) {
      offered = true;
      receiver.messageOffered();
    }
    settle();
  }

  /** A stripe arrived; whether it fits. */
  @Override
  public boolean stripe(int sub, int immediate) {
    if (sub >= count || (rewritten[sub] & 1 << ImmediateData.stripe(immediate)) != 0) {
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
  @Override
  public boolean trueLength(int sub, long lengthBytes) {
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
      restartBound();
      receiver.messageArrived();
      settle();
    }
  }

  @Override
  protected boolean isComplete() {
    return entriesPosted && arrived == (1 << count) - 1;
  }

  /** It arrived whole, and waits for its entries' write alone. */
  @Override
  protected boolean endsByItself() {
    return arrived == (1 << count) - 1;
  }

  /** The sender's stripes for others may be before its own. */
  @Override
  protected long progress() {
    return receiver.stripes();
  }

  @Override
  protected boolean isTimed() {
    if (arrived == (1 << count) - 1) {
      return true;
    }
    for (int sub = 0; sub < count; sub++) {
      if (isPartlyHere(sub)) {
        return true;
      }
    }
    return false;
  }

  private boolean isPartlyHere(int sub) {
    return (arrived & 1 << sub) == 0
        && (arrivals[sub] != StripeArrivals.NONE || lengths[sub] != UNKNOWN);
  }

  @Override
  protected boolean isExposed() {
    return tries > 0 && !receiver.isPeerDone();
  }

  /** Entries are written from this side's copy of the mailbox; the memory is for the peer's. */
  @Override
  protected boolean operatesOnLease() {
    return false;
  }

  @Override
  protected long movedBytes() {
    long total = 0;
    for (int sub = 0; sub < count; sub++) {
      total += lengths[sub];
    }
    return total;
  }

  @Override
  protected void endUse() {
    for (int sub = 0; sub < count; sub++) {
      DataRegistration used = memory[sub];
      if (used != null) {
        memory[sub] = null;
        used.endUse();
      }
    }
  }

  @Override
  protected String where() {
    return "irecv of message %d from %s"
        .formatted(messageNumber, receiver.connection().describePeer());
  }

  @Override
  protected String missing() {
    StringJoiner text = new StringJoiner("; ");
    if (!entriesPosted || writing) {
      text.add(
          "its entries, %s on %s"
              .formatted(
                  writing ? "not completed" : "not taken",
                  controlRail == PeerRails.NONE
                      ? "any rail"
                      : receiver.connection().control().port(controlRail).label()));
    }
    for (int sub = 0; sub < count; sub++) {
      if (isPartlyHere(sub)) {
        int missing = StripeArrivals.missing(arrivals[sub]);
        text.add(
            missing == 0
                ? "the true length of receive %d".formatted(sub)
                : arrivals[sub] == StripeArrivals.NONE
                    ? "every stripe of receive %d".formatted(sub)
                    : "stripes %s of %d of receive %d"
                        .formatted(stripes(missing), StripeArrivals.expected(arrivals[sub]), sub));
      }
    }
    return text.toString();
  }

  private static String stripes(int bits) {
    StringJoiner text = new StringJoiner(", ");
    for (int stripe = 0; stripe < ProtocolLimits.MAX_RAILS; stripe++) {
      if ((bits & 1 << stripe) != 0) {
        text.add(Integer.toString(stripe));
      }
    }
    return text.toString();
  }
}
