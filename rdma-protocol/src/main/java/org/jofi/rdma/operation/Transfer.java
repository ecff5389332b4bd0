package org.jofi.rdma.operation;

import java.util.Arrays;
import java.util.StringJoiner;
import org.jofi.mr.registration.Descriptors;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * Stripes between this side's memory and registered memory of the peer's, and the only record of
 * where each of them is. The engine says what is to move, whole or in stripes of its own; the
 * driver cuts the rest, which is <em>unbound</em> until then, as rails have room for it, chooses
 * each one's rail, posts it, and tells the listener once what it came to. Used again for the next
 * transfer of its owner; nothing is allocated once it exists. Used with the endpoint's lock held.
 *
 * <pre>
 * event                                            from                  to
 * cut, placed                                      (unbound)             TO_POST
 * a provider took it                               TO_POST               OUT
 * completed                                        OUT                   DONE, or WRITTEN
 * its rail is lost, and it may land yet            TO_POST, OUT          LINGERING
 * failed: again, over another rail if possible     all but DONE          TO_POST
 * failed: the receiver is to say whether it came   all but DONE          DOUBTFUL
 * failed for good                                  all but DONE          FAILED
 * cancelled                                        TO_POST, (unbound)    FAILED
 * announced apart                                  WRITTEN               ANNOUNCED
 * its announcement left                            ANNOUNCED             DONE
 * the receiver was asked                           DOUBTFUL              ASKED
 * no answer came                                   ASKED                 DOUBTFUL
 * answered: it arrived                             DOUBTFUL, ASKED       DONE
 * answered: it is missing                          DOUBTFUL, ASKED       TO_POST, then WRITTEN
 * </pre>
 *
 * <p><b>Why a failed write is asked about.</b> It may have arrived whole, with its immediate data.
 * Then the receiver may have reported the message, and its memory may hold something else by the
 * time that a second write lands. A receiver that answers that it lacks the stripe does not count
 * its immediate data any more, however late that comes, but only the message which says that the
 * stripe was written again: until then the same bytes may be written to the same place as often as
 * need be. A write that is announced apart is safe without asking: nobody was told of it.
 */
public abstract class Transfer extends Task {
  public enum Kind {
    WRITE,
    READ,
    /** Reads of this endpoint's own memory, through each rail; what is read is dropped. */
    READ_OWN
  }

  public enum State {
    /** It waits for its rail. */
    TO_POST("not taken by the provider"),
    /** It is with a provider, on its rail. */
    OUT("posted, not completed"),
    /** It is on no rail any more, but may land until its rail's endpoints are closed. */
    LINGERING("posted, not completed"),
    /** It is at the peer, who is to be told so. */
    WRITTEN("written, not announced"),
    /** The peer is being told. */
    ANNOUNCED("announced, not completed"),
    /** It failed, and the peer knows whether it arrived. */
    DOUBTFUL("failed, and the peer did not tell whether it arrived"),
    ASKED("failed, and the peer did not tell whether it arrived"),
    FAILED("failed"),
    /** Nothing is left to do for it. */
    DONE("done");

    private final String text;

    State(String text) {
      this.text = text;
    }

    public boolean isOnRail() {
      return this == TO_POST || this == OUT;
    }
  }

  /** Of a stripe that goes over whichever rail is next. */
  public static final int ANY_RAIL = -1;

  private final TransferListener listener;
  private final long[] remotes = new long[ProtocolLimits.MAX_RAILS];
  protected final long[] keys = new long[ProtocolLimits.MAX_RAILS];
  protected Kind kind = Kind.WRITE;
  private @Nullable Descriptors local;
  private long localAddress;

  protected boolean failsAlone;
  private final State[] states;
  private final byte[] rails;
  private final int[] tries;
  private final long[] offsets;
  private final long[] lengths;
  private int count;
  private int onDelivery;
  private int withData;
  private boolean announces;
  private boolean cancelled;
  private boolean wasPosted;

  private long spread;
  private long bound;

  protected Transfer(TransferListener listener, int most) {
    this.listener = listener;
    states = new State[most];
    Arrays.fill(states, State.FAILED);
    rails = new byte[most];
    tries = new int[most];
    offsets = new long[most];
    lengths = new long[most];
  }

  /** Begins anew: what it does, and this side's memory. None of its stripes is out. */
  public final void begin(Kind what, long address, @Nullable Descriptors memory) {
    kind = what;
    localAddress = address;
    local = memory;
    failsAlone = false;
    count = 0;
    onDelivery = 0;
    withData = 0;
    announces = false;
    cancelled = false;
    wasPosted = false;
    spread = 0;
    bound = 0;
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
    return localAddress + offsets[stripe];
  }

  protected final long descriptor(int rail) {
    Descriptors memory = local;
    return memory == null ? 0 : memory.descriptor(rail);
  }

  protected final long remoteAddress(int stripe, int rail) {
    return remotes[rail] + offsets[stripe];
  }

  protected final int immediate(int stripe) {
    return listener.immediate(this, stripe);
  }

  protected final void complete(int stripe) {
    move(stripe, announces && !bringsData(stripe) ? State.WRITTEN : State.DONE);
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

  /** So many bytes, 1 or more, are to be cut into stripes, once it is submitted. */
  public final void spread(long lengthBytes) {
    spread = lengthBytes;
  }

  /** A stripe of its own, from that offset on in both memories; its number, counted from 0. */
  public final int place(int rail, long offset, long lengthBytes) {
    int stripe = count++;
    offsets[stripe] = offset;
    lengths[stripe] = lengthBytes;
    tries[stripe] = 0;
    states[stripe] = State.FAILED;
    move(stripe, State.TO_POST, rail);
    return stripe;
  }

  /** These stripes complete when the peer has them; others may when they have left. */
  public final void completeOnDelivery(int those) {
    onDelivery |= those;
  }

  /** The peer is told of each stripe that is written: by its write, or else apart. */
  public final void announce(boolean byWrite) {
    announces = true;
    withData = byWrite ? -1 : 0;
  }

  /** Cancels what is unbound, or to be posted: none of that happens. */
  public final void cancel() {
    cancelled = true;
    move(State.TO_POST, State.FAILED);
  }

  /** Whether all that is to be cut was cut, or never will be. */
  public final boolean isBound() {
    return cancelled || bound == spread;
  }

  /** Whether some of it may happen yet: it is unbound, to be posted, out, or lingers. */
  public final boolean isOut() {
    return !isBound() || (in(State.TO_POST) | in(State.OUT) | in(State.LINGERING)) != 0;
  }

  public final boolean isDone() {
    return bound == spread && in(State.DONE) == all();
  }

  /** Whether nothing more of it is to be posted, or announced, unless something fails. */
  public final boolean endsByItself() {
    int posted = in(State.OUT) | in(State.LINGERING);
    int silently = announces ? posted & withData : posted;
    return isBound() && (in(State.DONE) | in(State.ANNOUNCED) | silently) == all();
  }

  public final boolean wasPosted() {
    return wasPosted;
  }

  public final int stripes() {
    return count;
  }

  private int all() {
    return count == Integer.SIZE ? -1 : (1 << count) - 1;
  }

  /** Those in a state, a bit each. */
  public final int in(State state) {
    int bits = 0;
    for (int stripe = 0; stripe < count; stripe++) {
      bits |= states[stripe] == state ? 1 << stripe : 0;
    }
    return bits;
  }

  public final State state(int stripe) {
    return states[stripe];
  }

  /** How often a stripe was posted, or refused. */
  public final int tries(int stripe) {
    return tries[stripe];
  }

  /** 0 only of a message of 0 bytes. */
  public final long lengthBytes(int stripe) {
    return lengths[stripe];
  }

  public final boolean bringsData(int stripe) {
    return (withData & 1 << stripe) != 0;
  }

  public final void move(int stripe, State to) {
    move(stripe, to, rails[stripe]);
  }

  /** What was asked got no answer, and is to be asked again; whether there is any of that. */
  public final boolean askAgain() {
    move(State.ASKED, State.DOUBTFUL);
    return in(State.DOUBTFUL) != 0;
  }

  /**
   * The peer answered whether a stripe arrived. One that did not is to be posted again, and
   * announced apart.
   *
   * @return whether that answer was awaited
   */
  public final boolean answered(int stripe, int ofTry, boolean arrived) {
    boolean awaited =
        ((in(State.DOUBTFUL) | in(State.ASKED)) & 1 << stripe) != 0 && tries[stripe] == ofTry;
    if (awaited && arrived) {
      move(stripe, State.DONE);
    } else if (awaited) {
      withData &= ~(1 << stripe);
      onDelivery |= 1 << stripe;
      move(stripe, State.TO_POST);
    }
    return awaited;
  }

  /** What is not done, for errors; empty if all is. */
  public final String missing() {
    StringJoiner text = new StringJoiner("; ");
    for (int stripe = 0; stripe < count; stripe++) {
      if (states[stripe] != State.DONE) {
        text.add(
            "stripe %d of %d on %s, %s"
                .formatted(stripe, count, railLabel(stripe), states[stripe].text));
      }
    }
    if (!isBound()) {
      text.add("the rest, for which no rail had room");
    }
    return text.toString();
  }

  public abstract String railLabel(int stripe);

  /** The driver's: a stripe was in another state before, or given to another rail. */
  protected abstract void changed(int stripe, State before, int beforeRail);

  private void move(State from, State to) {
    for (int stripe = 0; stripe < count; stripe++) {
      if (states[stripe] == from) {
        move(stripe, to);
      }
    }
  }

  /** A stripe is in that state from now on, and given to that rail. */
  final void move(int stripe, State to, int rail) {
    State before = states[stripe];
    int beforeRail = rails[stripe];
    states[stripe] = to;
    rails[stripe] = (byte) rail;
    wasPosted |= to == State.OUT;
    changed(stripe, before, beforeRail);
  }

  /** The driver's: the rail of a stripe, or {@link #ANY_RAIL}. */
  protected final int rail(int stripe) {
    return rails[stripe];
  }

  /** The driver's: a stripe that is to be posted goes over another rail. */
  protected final void moveTo(int stripe, int rail) {
    if (rails[stripe] != rail) {
      move(stripe, states[stripe], rail);
    }
  }

  /** The driver's: a stripe is offered to a provider, which may refuse it for good. */
  protected final void tried(int stripe) {
    tries[stripe]++;
  }

  /** The driver's: what is to be cut in all, in bytes. */
  public final long bytes() {
    return spread;
  }

  /** The driver's: what is not cut yet, in bytes; 0 if it is not to be any more. */
  public final long unbound() {
    return cancelled ? 0 : spread - bound;
  }

  /** The driver's: cuts a stripe, which is to be posted over that rail. */
  public final void bind(int rail, long lengthBytes) {
    long offset = bound;
    bound += lengthBytes;
    place(rail, offset, lengthBytes);
  }

  /** The driver's: whether a stripe completes only when the peer has it. */
  protected final boolean completesOnDelivery(int stripe) {
    return (onDelivery & 1 << stripe) != 0;
  }
}
