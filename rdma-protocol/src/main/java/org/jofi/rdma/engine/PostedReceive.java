package org.jofi.rdma.engine;

import java.util.StringJoiner;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.sequence.StripeArrivals;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jspecify.annotations.Nullable;

/**
 * A receive, or a group of them, whose entries are written to the peer. It is over when each
 * message arrived, with its true length if that is told apart, and the entries' write completed.
 *
 * <p>Its bound runs while some of a message arrived and some did not. Once its entries were posted,
 * the peer may write into its memory: if it fails, its lease lasts until the peer is done.
 */
final class PostedReceive extends IncomingReceive {
  private static final long UNKNOWN = -1;

  private final long[] posted = new long[ProtocolLimits.MAX_GROUP];
  private final long[] lengths = new long[ProtocolLimits.MAX_GROUP];
  private final int[] arrivals = new int[ProtocolLimits.MAX_GROUP];
  private final int[] rewritten = new int[ProtocolLimits.MAX_GROUP];
  private final @Nullable DataRegistration[] memory =
      new @Nullable DataRegistration[ProtocolLimits.MAX_GROUP];
  private int arrived;

  /** What writes its entries; null before, and when that is over. */
  private @Nullable AnnouncementWrite write;

  private boolean wasPosted;

  PostedReceive(Receiver receiver, Request request) {
    super(receiver, request);
  }

  void start(long first, int receives) {
    arrived = 0;
    wasPosted = false;
    begin(first, receives);
  }

  void expect(int sub, long lengthBytes, DataRegistration registration) {
    posted[sub] = lengthBytes;
    lengths[sub] = UNKNOWN;
    arrivals[sub] = StripeArrivals.NONE;
    rewritten[sub] = 0;
    memory[sub] = registration;
  }

  @Override
  void announce() {
    receiver().unannounced().collect(this);
  }

  /** Its entries are written with that from now on. */
  void joined(AnnouncementWrite with) {
    write = with;
    request().begun(1);
  }

  /**
   * The write of its entries is over; it is to be settled.
   *
   * @param posted whether a provider took it
   */
  void entriesBack(boolean posted) {
    write = null;
    wasPosted |= posted;
    request().returned(1);
  }

  @Override
  boolean wasPosted() {
    AnnouncementWrite under = write;
    return wasPosted || (under != null && under.wasPosted());
  }

  @Override
  void cut() {
    AnnouncementWrite under = write;
    if (under != null) {
      under.drop();
    }
  }

  @Override
  int count() {
    return indices();
  }

  /** The true length of a message of a request that is over. */
  @Override
  long lengthBytes(int sub) {
    return lengths[sub];
  }

  @Override
  void writeAgain() {
    if (isLive()) {
      receiver().unannounced().writeAgain(this);
    }
  }

  @Override
  boolean isWritten() {
    return hasRoom() && write == null;
  }

  /**
   * {@inheritDoc}
   *
   * <p>If it is missing its immediate data counts no more: the sender writes it again, and what is
   * late must not complete the message while that is under way.
   */
  @Override
  int hasStripe(int sub, int stripe) {
    if (StripeArrivals.has(arrivals[sub], stripe)) {
      return Receiver.ARRIVED;
    }
    rewritten[sub] |= 1 << stripe;
    return Receiver.MISSING;
  }

  @Override
  boolean written(int sub, int immediate) {
    rewritten[sub] &= ~(1 << ImmediateData.stripe(immediate));
    return stripe(sub, immediate);
  }

  /** A stripe arrived; whether it fits. */
  @Override
  boolean stripe(int sub, int immediate) {
    if ((rewritten[sub] & 1 << ImmediateData.stripe(immediate)) != 0) {
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
  boolean trueLength(int sub, long lengthBytes) {
    if (lengths[sub] != UNKNOWN || lengthBytes >= posted[sub]) {
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
      request().restartBound();
      receiver().messageArrived();
      request().settle();
    }
  }

  @Override
  boolean isComplete() {
    // What arrives for a receive that nobody was told of is not its peer's.
    return hasRoom() && arrivedWhole();
  }

  /** It arrived whole, and waits for its entries' write alone. */
  @Override
  boolean endsByItself() {
    return arrivedWhole();
  }

  private boolean arrivedWhole() {
    return arrived == (1 << indices()) - 1;
  }

  @Override
  boolean isTimed() {
    if (arrivedWhole()) {
      return true;
    }
    for (int sub = 0; sub < indices(); sub++) {
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

  /** Entries are written from this side's copy of the mailbox; the memory is for the peer's. */
  @Override
  boolean operatesOnLease() {
    return false;
  }

  @Override
  long movedBytes() {
    long total = 0;
    for (int sub = 0; sub < indices(); sub++) {
      total += lengths[sub];
    }
    return total;
  }

  @Override
  void endUse() {
    giveRoom();
    for (int sub = 0; sub < indices(); sub++) {
      DataRegistration used = memory[sub];
      if (used != null) {
        memory[sub] = null;
        if (receiver().hasPeerVanished() && wasPosted()) {
          used.retire();
        }
        used.endUse();
      }
    }
  }

  @Override
  String where() {
    return "irecv of message %d from %s".formatted(index(), receiver().link().describePeer());
  }

  @Override
  String missing() {
    StringJoiner text = new StringJoiner("; ");
    AnnouncementWrite under = write;
    if (under != null) {
      text.add(under.missing());
    }
    for (int sub = 0; sub < indices(); sub++) {
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
