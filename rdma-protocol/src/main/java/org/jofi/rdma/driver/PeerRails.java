package org.jofi.rdma.driver;

import java.util.Arrays;
import java.util.List;
import org.jofi.fabric.AddressVector;
import org.jofi.rdma.nic.InsertedAddresses;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.nic.RailUser;
import org.jofi.rdma.operation.Tasks;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * The rails of one role to a peer, a {@link PeerRail} each, and which of them is to be used. A rail
 * is given up for a peer when an operation fails because the peer cannot be reached over it, when
 * it keeps failing and there is another, or when it is silent; for all peers when its completion
 * queue breaks, or its endpoint closes. All but the last may {@linkplain #join end}.
 */
public final class PeerRails implements RailUser {
  public static final int NONE = -1;

  /** How often something is posted, at most. */
  public static final int TRIES = 4;

  private final PeerRail[] rails;
  final Tasks tasks;

  /** What left, and of whose arrival nothing is known yet. */
  final UnansweredMessages unanswered;

  /** Over which something succeeded since that was asked, a bit each. */
  private int answered;

  /** Messages that are to go over these rails, or went and have not arrived. */
  int messages;

  private int turn;

  /** Which rails are used, and which of these are not suspect, a bit each. */
  private int usable;

  private int up;

  private int away;

  private @Nullable Failure failure;

  /** The rails to these addresses, of a peer or of a stranger; throws as {@link RailPort#peer}. */
  PeerRails(
      List<RailPort> ports,
      OutgoingMessages messages,
      List<FabricAddress> addresses,
      boolean isPeer) {
    int count = ports.size();
    rails = new PeerRail[count];
    Arrays.setAll(
        rails, rail -> new PeerRail(ports.get(rail), count == 1, addresses.get(rail), isPeer));
    tasks = messages.tasks;
    unanswered = new UnansweredMessages(this, messages, count == 1 || rails[0].seesArrivals);
    usable = (1 << count) - 1;
    up = usable;
    try {
      for (int rail = 0; rail < count; rail++) {
        ports.get(rail).add(this, rail);
        if (!ports.get(rail).isRetired()) {
          rails[rail].insert();
        }
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** A handshake went over these rails, so that their connections stand. */
  PeerRails connected() {
    for (PeerRail rail : rails) {
      rail.hasCarried = true;
    }
    return this;
  }

  void close() {
    for (PeerRail rail : rails) {
      rail.close();
      rail.port.remove(this);
    }
  }

  @Override
  public void closes(int rail, boolean forGood, @Nullable Failure why) {
    change(rail, forGood ? PeerRail.Event.ENDED : PeerRail.Event.RETIRED, why);
  }

  public int count() {
    return rails.length;
  }

  /** By which its provider names the peer on the first rail. */
  long number() {
    InsertedAddresses.Entry first = rails[0].entry;
    return first == null ? AddressVector.ANY : first.number();
  }

  PeerRail rail(int rail) {
    return rails[rail];
  }

  /** Something happens to a rail; why it is not used from now on, if it is not. */
  void change(int rail, PeerRail.Event event, @Nullable Failure why) {
    PeerRail of = rails[rail];
    PeerRail.State state = of.change(event, why);
    int bit = 1 << rail;
    usable = state.isUsable() ? usable | bit : usable & ~bit;
    up = state == PeerRail.State.UP ? up | bit : up & ~bit;
    away = state == PeerRail.State.AWAY ? away | bit : away & ~bit;
    if (!state.isUsable()) {
      unanswered.lost(rail);
      boolean isGivenUp = event == PeerRail.Event.FAILED || event == PeerRail.Event.ENDED;
      failure = isGivenUp ? why : failure;
    }
  }

  public boolean isUsable(int rail) {
    return (usable & 1 << rail) != 0;
  }

  /** The rails that are to be used, a bit each. */
  int usable() {
    return usable;
  }

  /**
   * The rails to which anything is given, a bit each: the usable ones but for those that are
   * {@linkplain #suspect suspected}, or all of them if there are no others.
   */
  int trusted() {
    return up == 0 ? usable : up;
  }

  /** These rails are to be used only if there are no others, a bit each. */
  void suspect(int those) {
    for (int left = usable; left != 0; left &= left - 1) {
      int rail = Integer.numberOfTrailingZeros(left);
      boolean aged = (those & 1 << rail) != 0;
      change(rail, aged ? PeerRail.Event.AGED : PeerRail.Event.ANSWERED, null);
    }
  }

  /** Whether a rail is away, and will be usable again if its link works. */
  boolean mayReturn() {
    return away != 0;
  }

  /**
   * Both sides know of each other's endpoint; whether the rail is usable from now on. Throws as
   * {@link RailPort#peer}.
   */
  boolean join(int rail) {
    if (isUsable(rail)) {
      return true;
    }
    PeerRail of = rails[rail];
    if (!of.mayReturn() || of.port.isRetired()) {
      return false;
    }
    of.insert();
    of.failures = 0;
    of.hasCarried = false;
    change(rail, PeerRail.Event.JOINED, null);
    if (Integer.bitCount(usable) == rails.length) {
      failure = null;
    }
    return true;
  }

  /** The usable rail whose turn it is, or {@link #NONE}. */
  public int next() {
    for (int i = 0; i < rails.length; i++) {
      int rail = turn;
      turn = rail + 1 == rails.length ? 0 : rail + 1;
      if ((usable & 1 << rail) != 0) {
        return rail;
      }
    }
    return NONE;
  }

  /**
   * The usable rail on which the fewest messages are out, or {@link #NONE}; that one if it is among
   * them. On a silent rail, messages stay out where they do not count as sent once they left.
   */
  int leastBusy(int first) {
    int best = NONE;
    for (int i = 0; i < rails.length && first != NONE; i++) {
      int rail = (first + i) % rails.length;
      if (isUsable(rail) && (best == NONE || rails[rail].messagesOut < rails[best].messagesOut)) {
        best = rail;
      }
    }
    return best;
  }

  /** Messages and counted writes that are out on a rail, or left and may not be there. */
  int out(int rail) {
    return rails[rail].messagesOut + rails[rail].writesOut + (unanswered.isUncertain(rail) ? 1 : 0);
  }

  /** The rails over which something succeeded since the last call, a bit each. */
  int takeAnswered() {
    int since = answered;
    answered = 0;
    return since;
  }

  /** A {@linkplain #trusted usable} rail, another one if possible, or {@link #NONE}. */
  public int after(int rail) {
    int trusted = trusted();
    for (int i = 1; i <= rails.length; i++) {
      int other = (rail + i) % rails.length;
      if ((trusted & 1 << other) != 0) {
        return other;
      }
    }
    return NONE;
  }

  /** That rail, for something that waited for it; another one if it was given up meanwhile. */
  public int thatOrAnother(int rail) {
    return rail == NONE ? next() : isUsable(rail) ? rail : after(rail);
  }

  /** An operation failed after so many tries; the rail to post it on again, or {@link #NONE}. */
  public int retry(int rail, Failure why, int tries) {
    failed(rail, why);
    return another(rail, tries);
  }

  /** An operation failed over a rail, which may be given up for that. */
  void failed(int rail, Failure why) {
    boolean isReplaced = rails[rail].wasReplaced(why);
    boolean isTooOften = rails[rail].failed(isReplaced);
    if ((why.cause() == FailureCause.PEER_LOST && !isReplaced) || (isTooOften && hasOther(rail))) {
      lose(rail, why);
    } else {
      unanswered.lost(rail);
    }
  }

  void look() {
    for (PeerRail rail : rails) {
      // What fails from now on with a replaced connection counts as a failure of its own.
      rail.wasReplaced = false;
    }
  }

  /** As {@link #retry}, of an operation whose failure says nothing of its rail. */
  int another(int rail, int tries) {
    return tries >= TRIES || rails[rail].port.isDraining() ? NONE : after(rail);
  }

  void succeeded(int rail) {
    answered |= 1 << rail;
    rails[rail].succeeded();
  }

  boolean hasOther(int rail) {
    return (usable & ~(1 << rail)) != 0;
  }

  void lose(int rail, Failure why) {
    change(rail, PeerRail.Event.FAILED, why);
  }

  public boolean isLost() {
    return (usable | away) == 0;
  }

  /** Why the last rail was given up, for a caller that found none. */
  Failure reason(String operation) {
    return failure != null
        ? failure
        : new Failure(FailureCause.FABRIC, 0, operation, "no rail to the peer is left");
  }
}
