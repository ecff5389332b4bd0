package org.jofi.rdma.engine;

import java.lang.foreign.MemorySegment;
import java.util.StringJoiner;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.operation.AddressSpace;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.request.StrategyList;
import org.jofi.rdma.sequence.StripeArrivals;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jspecify.annotations.Nullable;

/**
 * A receive in flight, or a group of them as one. It gets its indices when it is announced, and its
 * entries are written to the peer then; a short message may fill it before, or instead. It is over
 * when each message arrived, with its true length if that is told apart.
 *
 * <p>Its bound runs while some of a message arrived and some did not. Once its entries were posted,
 * the peer may write into its memory: if it fails, its lease lasts until the peer is done.
 */
class PostedReceive extends StrategyList.Listed<PostedReceive> {
  /** The index of a receive that has none yet. */
  static final long NONE = 0;

  private static final long UNKNOWN = -1;

  final Receiver receiver;
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

  int count;

  private int arrived;
  private int taken;

  /** The index of its first entry; {@link #NONE} if it was not announced. */
  long index;

  int indices;

  /** Whether it ever was among the receives that wait: stored messages may fill it before. */
  boolean listed;

  /** Whether it is announced only if it has to be. */
  boolean withheld;

  /** The way in which it goes on through host blocks, made when it is needed. */
  private @Nullable StagedReceive staged;

  PostedReceive(Receiver receiver, Request request) {
    super(request);
    this.receiver = receiver;
  }

  StagedReceive staged() {
    StagedReceive chunks = staged;
    if (chunks == null) {
      chunks = new StagedReceive(receiver, request);
      staged = chunks;
    }
    return chunks;
  }

  /** Starts one of so many receives; {@link #expect} says what each is. */
  final void start(int receives) {
    count = receives;
    arrived = 0;
    taken = 0;
    index = NONE;
    indices = 0;
    listed = false;
    withheld = false;
  }

  final void expect(
      int sub, long address, long lengthBytes, int tag, DataRegistration registration) {
    addresses[sub] = address;
    tags[sub] = tag;
    posted[sub] = lengthBytes;
    lengths[sub] = UNKNOWN;
    arrivals[sub] = StripeArrivals.NONE;
    rewritten[sub] = 0;
    memory[sub] = registration;
  }

  /** How many indices it has, or will get if it is announced now: none for what was filled. */
  final int places() {
    return index == NONE ? count - Integer.bitCount(taken) : indices;
  }

  /** It gets its indices, and there is room for what arrives: the peer is told of it now. */
  final void announce(long first, int places) {
    index = first;
    indices = places;
    int entries = 0;
    for (int sub = 0; sub < count; sub++) {
      DataRegistration into = memory[sub];
      if (!isTaken(sub) && into != null) {
        announced[entries] = sub;
        long entry = index + entries++;
        receiver.unannounced.put(entry, addresses[sub], length(sub), tags[sub], into);
      }
    }
    receiver.unannounced.collect(this);
  }

  /** The length that its entry tells. */
  long length(int sub) {
    return posted[sub];
  }

  final int tag(int sub) {
    return tags[sub];
  }

  /** The index of a receive of it; {@link #NONE} if it was not announced. */
  final long indexOf(int sub) {
    for (int entry = 0; entry < indices; entry++) {
      if (announced[entry] == sub) {
        return index + entry;
      }
    }
    return NONE;
  }

  final int sub(long of) {
    return announced[(int) (of - index)];
  }

  /** Whether nothing arrived for a receive of it. */
  boolean isOpen(int sub) {
    return (arrived & 1 << sub) == 0 && !isPartlyHere(sub);
  }

  /** Whether a short message filled it, so that no write comes for it. */
  private boolean isTaken(int sub) {
    return (taken & 1 << sub) != 0;
  }

  /**
   * A receive that is open takes a short message. If that is longer this side fails, and at once:
   * the request may have operations under way, and what follows is for no other receive.
   */
  final void take(int sub, long from, int lengthBytes) {
    if (lengthBytes > posted[sub]) {
      receiver.fail(
          receiver.tooLong("irecv with tag %d".formatted(tags[sub]), lengthBytes, posted[sub]));
    } else {
      fill(sub, from, lengthBytes);
    }
  }

  final long roomBytes(int sub) {
    return posted[sub];
  }

  /** A short message, which fits, goes into an open receive. */
  void fill(int sub, long from, int lengthBytes) {
    MemorySegment.copy(AddressSpace.ALL, from, AddressSpace.ALL, addresses[sub], lengthBytes);
    taken |= 1 << sub;
    lengths[sub] = lengthBytes;
    arrive(sub);
  }

  /** Whether a provider took any of its entries, so that the peer may write into its memory. */
  private boolean wasPosted() {
    return index != NONE && receiver.unannounced.wasPosted(index);
  }

  @Override
  public final boolean isExposed() {
    return wasPosted() && !receiver.link.peerDone;
  }

  /** The sender's stripes for others may be before its own. */
  @Override
  public final long progress() {
    return receiver.announcements.stripes();
  }

  /** With it fail all that were not written yet: a failed message fails the others, too. */
  @Override
  public final void cut() {
    receiver.unannounced.drop();
  }

  /** Refuses an array that is too short, by an {@link IllegalArgumentException}. */
  final void checkFits(long[] into) {
    if (into.length < count) {
      throw new IllegalArgumentException(
          "a group of %d receives has more than %d lengths".formatted(count, into.length));
    }
  }

  final void lengths(long[] into) {
    System.arraycopy(lengths, 0, into, 0, count);
  }

  final long lengthBytes(int sub) {
    return lengths[sub];
  }

  /**
   * Whether a stripe of it arrived: as {@link Receiver#hasStripe}.
   *
   * <p>If it is missing its immediate data counts no more: the sender writes it again, and what is
   * late must not complete the message while that is under way.
   */
  final int hasStripe(int sub, int stripe) {
    if (StripeArrivals.has(arrivals[sub], stripe)) {
      return Receiver.ARRIVED;
    }
    rewritten[sub] |= 1 << stripe;
    return Receiver.MISSING;
  }

  /** A stripe was written, or written again; whether it fits. */
  final boolean written(int sub, int immediate) {
    rewritten[sub] &= ~(1 << ImmediateData.stripe(immediate));
    return stripe(sub, immediate);
  }

  /** A stripe arrived, checked; whether it fits. */
  final boolean stripe(int sub, int immediate) {
    if (isTaken(sub) || (rewritten[sub] & 1 << ImmediateData.stripe(immediate)) != 0) {
      return false;
    }
    long with = StripeArrivals.add(arrivals[sub], immediate);
    if (with < 0) {
      return false;
    }
    if (arrivals[sub] == StripeArrivals.NONE) {
      request.matched();
    }
    arrivals[sub] = with;
    check(sub);
    return true;
  }

  /** A true length arrived; whether it fits. */
  final boolean trueLength(int sub, long lengthBytes) {
    if (lengths[sub] != UNKNOWN || lengthBytes >= posted[sub]) {
      return false;
    }
    lengths[sub] = lengthBytes;
    check(sub);
    return true;
  }

  /** All of a message is in its memory, as its sender says, whoever was told. */
  final void delivered(int sub, long lengthBytes) {
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
    request.restartBound();
    receiver.messageArrived(lengths[sub]);
    request.settle();
  }

  @Override
  public boolean isComplete() {
    return arrivedWhole();
  }

  final boolean arrivedWhole() {
    return arrived == (1 << count) - 1;
  }

  /** What arrived needs no peer any more; of a staged one, copies may be left. */
  @Override
  public final boolean endsByItself() {
    return arrivedWhole();
  }

  @Override
  public boolean isTimed() {
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
  public boolean operatesOnLease() {
    return false;
  }

  @Override
  public int tag() {
    return tags[0];
  }

  @Override
  public long postedBytes() {
    long total = 0;
    for (int sub = 0; sub < count; sub++) {
      total += posted[sub];
    }
    return total;
  }

  @Override
  public long movedBytes() {
    long total = 0;
    for (int sub = 0; sub < count; sub++) {
      total += lengths[sub];
    }
    return total;
  }

  @Override
  public void endUse() {
    if (indices > 0) {
      receiver.unannounced.room.give(indices);
    }
    for (int sub = 0; sub < count; sub++) {
      DataRegistration used = memory[sub];
      if (used != null) {
        memory[sub] = null;
        if (receiver.link.peerVanished && wasPosted()) {
          used.retire();
        }
        used.endUse();
      }
    }
  }

  @Override
  public String where() {
    return index == NONE
        ? "irecv with tag %d from %s".formatted(tags[0], receiver.link.describePeer())
        : "irecv of message %d from %s".formatted(index, receiver.link.describePeer());
  }

  @Override
  public String missing() {
    StringJoiner text = new StringJoiner("; ");
    for (int sub = 0; sub < count; sub++) {
      if (isPartlyHere(sub)) {
        String missing = StripeArrivals.describeMissing(arrivals[sub]);
        text.add(
            "%s of receive %d".formatted(missing.isEmpty() ? "the true length" : missing, sub));
      }
    }
    return text.toString();
  }
}
