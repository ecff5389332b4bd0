package org.jofi.rdma.operation;

import org.jofi.mr.registration.Descriptors;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * Stripes between this side's memory and registered memory of the peer's. The engine says what is
 * to move, whole or in stripes of its own; the driver cuts the rest, as rails have room for it,
 * chooses each one's rail, posts it, and tells the listener once what it came to. Used again for
 * the next transfer of its owner.
 */
public abstract class Transfer extends Stripes {
  public enum Kind {
    WRITE,
    READ,
    /** Reads of this endpoint's own memory, through each rail; what is read is dropped. */
    READ_OWN
  }

  private final TransferListener listener;
  private final long[] remotes = new long[ProtocolLimits.MAX_RAILS];
  protected final long[] keys = new long[ProtocolLimits.MAX_RAILS];
  protected Kind kind = Kind.WRITE;
  private @Nullable Descriptors local;
  private long localAddress;

  /** Whether its failures say nothing of the rail. */
  protected boolean failsAlone;

  protected Transfer(TransferListener listener, int most) {
    super(most);
    this.listener = listener;
  }

  /** Begins anew: what it does, and this side's memory. None of its stripes is out. */
  public final void begin(Kind what, long address, @Nullable Descriptors memory) {
    kind = what;
    localAddress = address;
    local = memory;
    failsAlone = false;
    clear();
    reset();
  }

  /** The peer's memory, as a rail reaches it. */
  public final void remote(int rail, long address, long key) {
    remotes[rail] = address;
    keys[rail] = key;
  }

  /** What fails of it says nothing of the rail: others go on over that. */
  public final void failAlone() {
    failsAlone = true;
  }

  /** Stripes that were to be posted at the call before this as well move to other rails. */
  public void moveLate() {}

  /**
   * How many operations on the peer's data rails that come before it are done. It changes as long
   * as its turn comes nearer, and is not moved by what was posted later.
   */
  public long progress() {
    return 0;
  }

  /** Its turn is after all that was posted until now: a message that follows it was sent. */
  public void takeTurn() {}

  protected abstract void reset();

  /** The driver's: where a stripe is in this side's memory. */
  protected final long localAddress(int stripe) {
    return localAddress + offset(stripe);
  }

  protected final long descriptor(int rail) {
    Descriptors memory = local;
    return memory == null ? 0 : memory.descriptor(rail);
  }

  /** The driver's: where a stripe is in the peer's memory. */
  protected final long remoteAddress(int stripe, int rail) {
    return remotes[rail] + offset(stripe);
  }

  protected final int immediate(int stripe) {
    return listener.immediate(this, stripe);
  }

  protected final void complete(int stripe) {
    move(stripe, isAnnouncedApart(stripe) ? State.WRITTEN : State.DONE);
    listener.completed(this, stripe);
  }

  /** The driver's: a stripe failed, and may go over that rail; whether it is to be posted again. */
  protected final boolean fail(int stripe, int next, Failure why, Certainty certainty) {
    boolean railLeft = next != ANY_RAIL;
    move(stripe, State.FAILED, railLeft ? next : rail(stripe));
    boolean again = listener.failed(this, stripe, why, certainty, railLeft) && railLeft;
    if (again) {
      move(stripe, State.TO_POST);
    }
    return again;
  }

  /** The driver's: what a stripe comes to will never be known. */
  protected final void lose(int stripe, Failure why) {
    move(stripe, State.LINGERING);
    listener.lost(this, stripe, why);
  }
}
