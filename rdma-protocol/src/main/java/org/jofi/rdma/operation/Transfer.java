package org.jofi.rdma.operation;

import org.jofi.mr.registration.Descriptors;
import org.jofi.rdma.schedule.StripePlan;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * Stripes between this side's memory and registered memory of the peer's. The engine says what is
 * to move, whole or in stripes of its own; the driver cuts the rest, as rails have room for it,
 * chooses each one's rail, posts it, and tells the listener once what it came to. Used again for
 * the next transfer of its owner.
 *
 * <p>A stripe is <em>to be posted</em>, <em>in flight</em>, or neither. What is not cut yet is
 * <em>unbound</em>.
 */
public abstract class Transfer extends Task {
  /** What it does. */
  public enum Kind {
    /** Writes to the peer. */
    WRITE,
    /** Reads from the peer. */
    READ,
    /** Reads of this endpoint's own memory, through each rail; what is read is dropped. */
    READ_OWN
  }

  private final TransferListener listener;
  private final StripePlan plan;
  private final long[] remotes = new long[ProtocolLimits.MAX_RAILS];
  private final long[] keys = new long[ProtocolLimits.MAX_RAILS];
  private Kind kind = Kind.WRITE;
  private @Nullable Descriptors local;
  private long localAddress;
  private int onDelivery;
  private int withData;
  private int toPost;
  private int inFlight;
  private long spread;
  private long bound;
  private boolean wasPosted;
  private boolean alone;

  /**
   * One that tells that listener.
   *
   * @param stripes at most
   */
  protected Transfer(TransferListener listener, int stripes) {
    this.listener = listener;
    plan = new StripePlan(stripes);
  }

  /** Begins anew: what it does, and this side's memory. */
  public final void begin(Kind what, long address, @Nullable Descriptors memory) {
    kind = what;
    localAddress = address;
    local = memory;
    onDelivery = 0;
    withData = 0;
    toPost = 0;
    inFlight = 0;
    spread = 0;
    bound = 0;
    wasPosted = false;
    alone = false;
    plan.clear();
    reset();
  }

  /** The peer's memory, as a rail reaches it. */
  public final void remote(int rail, long address, long key) {
    remotes[rail] = address;
    keys[rail] = key;
  }

  /** So many bytes, 1 or more, are to be cut into stripes, once it is submitted. */
  public final void spread(long lengthBytes) {
    spread = lengthBytes;
    bound = 0;
  }

  /** Whether all that is to be cut was cut. */
  public final boolean isBound() {
    return bound == spread;
  }

  /** A stripe of that length for every rail. */
  public final void onEveryRail(int rails, long lengthBytes) {
    plan.onEveryRail(rails, lengthBytes);
  }

  /** A stripe of its own: so many bytes, from that offset on in both memories. */
  public final void part(int stripe, long offset, long lengthBytes) {
    plan.set(stripe, offset, lengthBytes);
    placed(stripe);
  }

  /**
   * These stripes complete when the peer has them; the others when they have left, unless the
   * driver wants to know more.
   */
  public final void completeOnDelivery(int stripes) {
    onDelivery |= stripes;
  }

  /** What fails of it says nothing of the rail: others go on over that. */
  public final void failAlone() {
    alone = true;
  }

  /** Which stripes bring immediate data. */
  public final void withData(int stripes) {
    withData = stripes;
  }

  /** Which stripes bring immediate data. */
  public final int withData() {
    return withData;
  }

  /** These stripes are to be posted, when it is submitted or its turn comes. */
  public final void add(int stripes) {
    added(stripes);
    toPost |= stripes;
  }

  /** Drops what is unbound, and what is to be posted; how many stripes that were. */
  public final int withdraw() {
    int dropped = toPost;
    toPost = 0;
    bound = spread;
    dropped(dropped);
    return Integer.bitCount(dropped);
  }

  /** How many stripes. */
  public final int stripes() {
    return plan.stripes();
  }

  /** All its stripes. */
  public final int all() {
    return plan.stripes() == Integer.SIZE ? -1 : (1 << plan.stripes()) - 1;
  }

  /** The length of a stripe. */
  public final long lengthBytes(int stripe) {
    return plan.length(stripe);
  }

  /** What is to be posted. */
  public final int toPost() {
    return toPost;
  }

  /** What is with a provider. */
  public final int inFlight() {
    return inFlight;
  }

  /** Whether a stripe is to be posted. */
  public final boolean isToBePosted(int stripe) {
    return (toPost & 1 << stripe) != 0;
  }

  /** Whether a stripe is to be posted, or in flight. */
  public final boolean isUnderWay(int stripe) {
    return ((toPost | inFlight) & 1 << stripe) != 0;
  }

  /** Whether anything of it was taken by a provider since it began. */
  public final boolean wasPosted() {
    return wasPosted;
  }

  /** Whether a stripe brings immediate data. */
  public final boolean bringsData(int stripe) {
    return (withData & 1 << stripe) != 0;
  }

  /** How often a stripe was posted, or refused. */
  public abstract int tries(int stripe);

  /**
   * Posts stripes again that are not in flight, over other rails if possible.
   *
   * @return false if there is no rail, or they were posted often enough
   */
  public abstract boolean repeat(int stripes);

  /** Stripes that were to be posted at the call before this as well move to other rails. */
  public abstract void moveLate();

  /**
   * How many operations of the peer's data rails that come before it are done. It changes as long
   * as its turn comes nearer, and is not moved by what was posted later.
   */
  public abstract long progress();

  /** Its turn is after all that was posted until now: a message that follows it was sent. */
  public abstract void takeTurn();

  /** What errors call the rail of a stripe. */
  public abstract String railLabel(int stripe);

  /** The driver's: begins anew. */
  protected abstract void reset();

  /** The driver's: a stripe is placed by itself. */
  protected abstract void placed(int stripe);

  /** The driver's: stripes are added. */
  protected abstract void added(int stripes);

  /** The driver's: what was to be posted is not. */
  protected void dropped(int stripes) {
    // Most keep no account.
  }

  /** The driver's: what is unbound, in bytes. */
  protected final long unbound() {
    return spread - bound;
  }

  /** The driver's: what is to be cut in all, in bytes. */
  protected final long spread() {
    return spread;
  }

  /** The driver's: cuts a stripe, which is to be posted over that rail; its number. */
  protected final int bind(int rail, long lengthBytes) {
    int stripe = plan.add(rail, bound, lengthBytes);
    bound += lengthBytes;
    toPost |= 1 << stripe;
    listener.bound(this, stripe);
    return stripe;
  }

  /** The driver's: where its stripes go. */
  protected final StripePlan plan() {
    return plan;
  }

  /** The driver's: what it does. */
  protected final Kind kind() {
    return kind;
  }

  /** The driver's: where a stripe is in this side's memory. */
  protected final long localAddress(int stripe) {
    return localAddress + plan.offset(stripe);
  }

  /** The driver's: this side's descriptor on a rail. */
  protected final long descriptor(int rail) {
    Descriptors memory = local;
    return memory == null ? 0 : memory.descriptor(rail);
  }

  /** The driver's: where a stripe is in the peer's memory. */
  protected final long remoteAddress(int stripe, int rail) {
    return remotes[rail] + plan.offset(stripe);
  }

  /** The driver's: the peer's key on a rail. */
  protected final long key(int rail) {
    return keys[rail];
  }

  /** The driver's: whether a stripe completes only when the peer has it. */
  protected final boolean completesOnDelivery(int stripe) {
    return (onDelivery & 1 << stripe) != 0;
  }

  /** The driver's: whether its failures say nothing of the rail. */
  protected final boolean failsAlone() {
    return alone;
  }

  /** The driver's: the immediate data of a stripe. */
  protected final int immediate(int stripe) {
    return listener.immediate(this, stripe);
  }

  /** The driver's: a provider took a stripe. */
  protected final void posted(int stripe) {
    toPost &= ~(1 << stripe);
    inFlight |= 1 << stripe;
    wasPosted = true;
  }

  /** The driver's: a stripe is done. */
  protected final void end(int stripe) {
    inFlight &= ~(1 << stripe);
    listener.completed(this, stripe);
  }

  /**
   * The driver's: a stripe failed.
   *
   * @return whether it is to be posted again
   */
  protected final boolean end(int stripe, Failure why, Certainty certainty, boolean railLeft) {
    int bit = 1 << stripe;
    inFlight &= ~bit;
    toPost &= ~bit;
    boolean again = listener.failed(this, stripe, why, certainty, railLeft) && railLeft;
    if (again) {
      toPost |= bit;
    }
    return again;
  }

  /** The driver's: what a stripe comes to will never be known. */
  protected final void lose(int stripe, Failure why) {
    listener.lost(this, stripe, why);
  }
}
