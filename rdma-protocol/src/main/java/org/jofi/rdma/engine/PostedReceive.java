package org.jofi.rdma.engine;

import java.util.StringJoiner;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.sequence.StripeArrivals;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jspecify.annotations.Nullable;

/**
 * A receive, or a group of them, whose entries are written to the peer, unless short messages fill
 * it before. It is over when each message arrived, with its true length if that is told apart.
 *
 * <p>Its bound runs while some of a message arrived and some did not. Once its entries were posted,
 * the peer may write into its memory: if it fails, its lease lasts until the peer is done.
 */
class PostedReceive extends IncomingReceive {
  private static final long UNKNOWN = -1;

  private final long[] addresses = new long[ProtocolLimits.MAX_GROUP];
  private final int[] tags = new int[ProtocolLimits.MAX_GROUP];
  private final long[] posted = new long[ProtocolLimits.MAX_GROUP];
  private final long[] lengths = new long[ProtocolLimits.MAX_GROUP];
  private final long[] arrivals = new long[ProtocolLimits.MAX_GROUP];
  private final int[] rewritten = new int[ProtocolLimits.MAX_GROUP];
  private final @Nullable DataRegistration[] memory =
      new @Nullable DataRegistration[ProtocolLimits.MAX_GROUP];

  /** Which receive each entry is of. */
  private final int[] announced = new int[ProtocolLimits.MAX_GROUP];

  private int count;
  private int arrived;
  private int taken;

  PostedReceive(Receiver receiver, Request request) {
    super(receiver, request);
  }

  void start(int receives) {
    count = receives;
    arrived = 0;
    taken = 0;
    begin();
  }

  void expect(int sub, long address, long lengthBytes, int tag, DataRegistration registration) {
    addresses[sub] = address;
    tags[sub] = tag;
    posted[sub] = lengthBytes;
    lengths[sub] = UNKNOWN;
    arrivals[sub] = StripeArrivals.NONE;
    rewritten[sub] = 0;
    memory[sub] = registration;
  }

  /** As many as no short message filled. */
  @Override
  int places() {
    return index() == NONE ? count - Integer.bitCount(taken) : indices();
  }

  @Override
  void announce() {
    int entries = 0;
    for (int sub = 0; sub < count; sub++) {
      DataRegistration into = memory[sub];
      if (!isTaken(sub) && into != null) {
        announced[entries] = sub;
        long entry = index() + entries++;
        receiver().announcer().put(entry, addresses[sub], length(sub), tags[sub], into, handled());
      }
    }
    receiver().unannounced().collect(this);
  }

  /** The length that its entry tells. */
  long length(int sub) {
    return posted[sub];
  }

  @Override
  int tag(int sub) {
    return tags[sub];
  }

  @Override
  long indexOf(int sub) {
    if (index() == NONE) {
      return NONE;
    }
    for (int entry = 0; entry < indices(); entry++) {
      if (announced[entry] == sub) {
        return index() + entry;
      }
    }
    return NONE;
  }

  @Override
  int sub(long of) {
    return announced[(int) (of - index())];
  }

  @Override
  boolean isOpen(int sub) {
    return (arrived & 1 << sub) == 0 && !isPartlyHere(sub);
  }

  /** Whether a short message filled it, so that no write comes for it. */
  private boolean isTaken(int sub) {
    return (taken & 1 << sub) != 0;
  }

  @Override
  long roomBytes(int sub) {
    return posted[sub];
  }

  @Override
  void fill(int sub, long from, int lengthBytes) {
    receiver().link().sink().copy(from, addresses[sub], lengthBytes);
    taken |= 1 << sub;
    lengths[sub] = lengthBytes;
    arrive(sub);
  }

  @Override
  boolean wasPosted() {
    return index() != NONE && receiver().unannounced().wasPosted(index());
  }

  /** With it fail all that were not written yet: a failed message fails the others, too. */
  @Override
  void cut() {
    receiver().unannounced().drop();
  }

  @Override
  int count() {
    return count;
  }

  /** The true length of a message of a request that is over. */
  @Override
  long lengthBytes(int sub) {
    return lengths[sub];
  }

  @Override
  boolean isWritten() {
    return hasRoom() && !receiver().unannounced().isUnderWay(index());
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

  @Override
  boolean stripe(int sub, int immediate) {
    if (isTaken(sub) || (rewritten[sub] & 1 << ImmediateData.stripe(immediate)) != 0) {
      return false;
    }
    long with = StripeArrivals.add(arrivals[sub], immediate);
    if (with < 0) {
      return false;
    }
    arrivals[sub] = with;
    check(sub);
    return true;
  }

  @Override
  boolean trueLength(int sub, long lengthBytes) {
    if (lengths[sub] != UNKNOWN || lengthBytes >= posted[sub]) {
      return false;
    }
    lengths[sub] = lengthBytes;
    check(sub);
    return true;
  }

  @Override
  void delivered(int sub, long lengthBytes) {
    if ((arrived & 1 << sub) == 0 && !isTaken(sub) && lengthBytes <= posted[sub]) {
      lengths[sub] = lengthBytes;
      arrive(sub);
    }
  }

  private void check(int sub) {
    if (!StripeArrivals.isComplete(arrivals[sub]) || (arrived & 1 << sub) != 0) {
      return;
    }
    if (!StripeArrivals.isShort(arrivals[sub])) {
      lengths[sub] = posted[sub];
    }
    if (lengths[sub] != UNKNOWN) {
      arrive(sub);
    }
  }

  void arrive(int sub) {
    arrived |= 1 << sub;
    request().restartBound();
    receiver().messageArrived(lengths[sub]);
    request().settle();
  }

  @Override
  boolean isComplete() {
    return arrivedWhole();
  }

  final boolean arrivedWhole() {
    return arrived == (1 << count) - 1;
  }

  @Override
  boolean endsByItself() {
    return false;
  }

  @Override
  boolean isTimed() {
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

  /** Entries are written from this side's copy of the mailbox; the memory is for the peer's. */
  @Override
  boolean operatesOnLease() {
    return false;
  }

  @Override
  long movedBytes() {
    long total = 0;
    for (int sub = 0; sub < count; sub++) {
      total += lengths[sub];
    }
    return total;
  }

  @Override
  void endUse() {
    giveRoom();
    for (int sub = 0; sub < count; sub++) {
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
    return index() == NONE
        ? "irecv with tag %d from %s".formatted(tags[0], receiver().link().describePeer())
        : "irecv of message %d from %s".formatted(index(), receiver().link().describePeer());
  }

  @Override
  String missing() {
    StringJoiner text = new StringJoiner("; ");
    for (int sub = 0; sub < count; sub++) {
      if (isPartlyHere(sub)) {
        int missing = StripeArrivals.missing(arrivals[sub]);
        text.add(
            missing == 0
                ? "the true length of receive %d".formatted(sub)
                : arrivals[sub] == StripeArrivals.NONE
                    ? "every stripe of receive %d".formatted(sub)
                    : "stripes %s of %s%d of receive %d"
                        .formatted(
                            stripes(missing),
                            StripeArrivals.isFinalHere(arrivals[sub]) ? "" : "at least ",
                            StripeArrivals.expected(arrivals[sub]),
                            sub));
      }
    }
    return text.toString();
  }

  private static String stripes(int bits) {
    StringJoiner text = new StringJoiner(", ");
    for (int stripe = 0; stripe < ProtocolLimits.MAX_STRIPES; stripe++) {
      if ((bits & 1 << stripe) != 0) {
        text.add(Integer.toString(stripe));
      }
    }
    return text.toString();
  }
}
