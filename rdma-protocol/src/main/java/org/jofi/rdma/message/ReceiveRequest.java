package org.jofi.rdma.message;

import java.util.StringJoiner;
import org.jofi.fabric.CompletionError;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.endpoint.Failures;
import org.jofi.rdma.endpoint.PeerRails;
import org.jofi.rdma.endpoint.RailPort;
import org.jofi.rdma.sequence.StripeArrivals;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MailboxLayout;
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
  private long index;
  private int count;
  private int controlRail;
  private int arrived;
  private int tries;

  /** Whether there is room for what arrives. */
  private boolean hasRoom;

  /** Whether the peer may know of it. */
  private boolean exposed;

  // Bits of its parts: the entries before the end of the ring, and those after it.
  private int toPost;
  private int writing;
  private int announced;

  ReceiveRequest(Receiver receiver, int slot) {
    super(receiver, slot);
    this.receiver = receiver;
  }

  void start(long first, int receives) {
    index = first;
    count = receives;
    controlRail = receiver.link().control().next();
    tries = 0;
    arrived = 0;
    hasRoom = false;
    exposed = false;
    toPost = parts();
    writing = 0;
    announced = 0;
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
  public long index() {
    return index;
  }

  @Override
  public int indices() {
    return count;
  }

  @Override
  public void announce() {
    hasRoom = true;
    receiver.link().submit(this);
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
    PeerRails rails = receiver.link().control();
    while (toPost != 0 && isLive()) {
      controlRail = rails.thatOrAnother(controlRail);
      if (controlRail == PeerRails.NONE) {
        Failure why = rails.failure();
        fail(why == null ? Failures.noRail("irecv") : why);
        return true;
      }
      int part = Integer.numberOfTrailingZeros(toPost);
      int answer = write(part);
      if (answer == Receiver.AGAIN) {
        controlRail = rails.next();
        return false;
      }
      exposed = true;
      if (answer == 0) {
        posted();
        toPost &= ~(1 << part);
        writing |= 1 << part;
      } else {
        moveOn(controlRail, Failures.ofPost("fi_write", rails.port(controlRail), -answer));
      }
    }
    return true;
  }

  /** Both bits, or one if all its entries are before the end of the ring. */
  private int parts() {
    return entries(0) == count ? 1 : 3;
  }

  private int entries(int part) {
    int before = MailboxLayout.beforeEnd(index, count);
    return part == 0 ? before : count - before;
  }

  private int write(int part) {
    long first = part == 0 ? index : index + entries(0);
    return receiver.announcer().write(this, part, controlRail, first, entries(part), tries > 0);
  }

  /** Takes another rail after a failure; fails if there is none. */
  private boolean moveOn(int rail, Failure why) {
    tries++;
    controlRail = receiver.link().control().retry(rail, why, tries);
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
    writing &= ~(1 << cookie);
    if (isLive() && moveOn(port.number(), Failures.of(port, error))) {
      // The same bytes to the same entries, which no other receive has before this one is over.
      toPost |= 1 << cookie;
      receiver.link().endpoint().pending().defer(this);
    } else {
      settle();
    }
  }

  @Override
  public void writeAgain() {
    int rail = receiver.link().control().after(controlRail);
    if (isLive() && tries + 1 < PeerRails.TRIES && rail != PeerRails.NONE) {
      tries++;
      controlRail = rail;
      toPost = parts();
      receiver.link().endpoint().pending().submit(this);
    }
  }

  @Override
  public boolean isWritten() {
    return toPost == 0 && writing == 0;
  }

  /**
   * {@inheritDoc}
   *
   * <p>If it is missing its immediate data counts no more: the sender writes it again, and what is
   * late must not complete the message while that is under way.
   */
  @Override
  public int hasStripe(int sub, int stripe) {
    if (StripeArrivals.has(arrivals[sub], stripe)) {
      return Receiver.ARRIVED;
    }
    rewritten[sub] |= 1 << stripe;
    return Receiver.MISSING;
  }

  @Override
  public boolean written(int sub, int immediate) {
    rewritten[sub] &= ~(1 << ImmediateData.stripe(immediate));
    return stripe(sub, immediate);
  }

  @Override
  public void completed(long cookie, long bytes) {
    returned();
    int part = (int) cookie;
    writing &= ~(1 << part);
    if ((announced & 1 << part) == 0) {
      announced |= 1 << part;
      receiver.announced(entries(part));
    }
    settle();
  }

  /** A stripe arrived; whether it fits. */
  @Override
  public boolean stripe(int sub, int immediate) {
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
  public boolean trueLength(int sub, long lengthBytes) {
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
      restartBound();
      receiver.messageArrived();
      settle();
    }
  }

  @Override
  protected boolean isComplete() {
    return toPost == 0 && arrived == (1 << count) - 1;
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
    return exposed && !receiver.isPeerDone();
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
    if (hasRoom) {
      hasRoom = false;
      receiver.unannounced().ended(count);
    }
    for (int sub = 0; sub < count; sub++) {
      DataRegistration used = memory[sub];
      if (used != null) {
        memory[sub] = null;
        if (receiver.hasPeerVanished() && exposed) {
          used.retire();
        }
        used.endUse();
      }
    }
  }

  @Override
  protected String where() {
    return "irecv of message %d from %s".formatted(index, receiver.link().describePeer());
  }

  @Override
  protected String missing() {
    StringJoiner text = new StringJoiner("; ");
    if (toPost != 0 || writing != 0) {
      text.add(
          "its entries, %s on %s"
              .formatted(
                  toPost == 0 ? "not completed" : "not taken",
                  controlRail == PeerRails.NONE
                      ? "any rail"
                      : receiver.link().control().port(controlRail).label()));
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
