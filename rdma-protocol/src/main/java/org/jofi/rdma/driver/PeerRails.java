package org.jofi.rdma.driver;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jofi.rdma.operation.Tasks;
import org.jofi.rdma.schedule.ControlRotation;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * The rails of one role to a peer: the peer's number on each, and which of them are usable. A rail
 * is given up for a peer when an operation fails because the peer cannot be reached over it, or
 * when it keeps failing and there is another; and for all peers when its completion queue breaks.
 */
public final class PeerRails {
  /** No rail is left. */
  public static final int NONE = -1;

  /** How often something is posted, at most. */
  public static final int TRIES = 4;

  /** What a failure weighs against successes: a third one is too much amid fewer than these. */
  private static final int FAILURE_WEIGHT = 64;

  private static final int MOST_WEIGHT = 2 * FAILURE_WEIGHT;

  private final RailPort[] ports;
  private final Tasks tasks;
  private final long[] peers;
  private final int[] failures;
  private final int[] messagesOut;
  private final ControlRotation rotation;
  private int lost;
  private final Map<Integer, Failure> lostBy = new HashMap<>(0);
  private @Nullable Failure failure;

  /**
   * @param tasks the endpoint's
   * @param peers the peer's number on each
   */
  PeerRails(List<RailPort> ports, Tasks tasks, long[] peers) {
    this.ports = ports.toArray(RailPort[]::new);
    this.tasks = tasks;
    this.peers = peers.clone();
    failures = new int[peers.length];
    messagesOut = new int[peers.length];
    rotation = new ControlRotation(peers.length);
  }

  /**
   * The rails to a peer whose addresses are known.
   *
   * @param ports rails of one role, at least as many as there are addresses
   * @param tasks the endpoint's
   * @throws IllegalArgumentException as {@link RailPort#peer}
   * @throws org.jofi.fabric.FabricException as {@link RailPort#peer}
   */
  static PeerRails to(List<RailPort> ports, Tasks tasks, List<FabricAddress> addresses) {
    long[] peers = new long[ports.size()];
    for (int rail = 0; rail < peers.length; rail++) {
      peers[rail] = ports.get(rail).peer(addresses.get(rail));
    }
    return new PeerRails(ports, tasks, peers);
  }

  /** Where what waits is queued. */
  Tasks tasks() {
    return tasks;
  }

  /** How many there are, usable or not. */
  public int count() {
    return peers.length;
  }

  /** A rail. */
  public RailPort port(int rail) {
    return ports[rail];
  }

  /** The peer's number on a rail. */
  public long peer(int rail) {
    return peers[rail];
  }

  /** Whether a rail is to be used. */
  public boolean isUsable(int rail) {
    if ((lost & 1 << rail) != 0) {
      return false;
    }
    Failure broken = ports[rail].brokenBy();
    if (broken != null) {
      lose(rail, broken);
      return false;
    }
    return true;
  }

  /** The usable rail whose turn it is, or {@link #NONE}. */
  public int next() {
    int rail = rotation.next();
    while (rail >= 0 && !isUsable(rail)) {
      rail = rotation.next();
    }
    return rail < 0 ? NONE : rail;
  }

  /**
   * The usable rail on which the fewest messages are out, or {@link #NONE}; that one if it is among
   * them. On a silent rail, messages stay out where they do not count as sent once they left.
   */
  int leastBusy(int first) {
    int best = NONE;
    for (int i = 0; i < peers.length && first != NONE; i++) {
      int rail = (first + i) % peers.length;
      if (isUsable(rail) && (best == NONE || messagesOut[rail] < messagesOut[best])) {
        best = rail;
      }
    }
    return best;
  }

  /** A rail took a message. */
  void took(int rail) {
    messagesOut[rail]++;
  }

  /** A message that a rail took is back, sent or not. */
  void returned(int rail) {
    messagesOut[rail]--;
  }

  /** A usable rail, another one if possible, or {@link #NONE}. */
  public int after(int rail) {
    for (int i = 1; i <= peers.length; i++) {
      int other = (rail + i) % peers.length;
      if (isUsable(other)) {
        return other;
      }
    }
    return NONE;
  }

  /**
   * The rail for something that was to go over that one, and waited: another usable one if it was
   * given up meanwhile, or {@link #NONE}.
   */
  public int thatOrAnother(int rail) {
    return rail == NONE ? next() : isUsable(rail) ? rail : after(rail);
  }

  /**
   * An operation failed.
   *
   * @param tries how often it was posted
   * @return the rail to post it on again, or {@link #NONE}
   */
  public int retry(int rail, Failure why, int tries) {
    failures[rail] += FAILURE_WEIGHT;
    if (why.cause() == FailureCause.PEER_LOST || (failures[rail] > MOST_WEIGHT && hasOther(rail))) {
      lose(rail, why);
    }
    return another(rail, tries);
  }

  /** As {@link #retry}, of an operation whose failure says nothing of its rail. */
  int another(int rail, int tries) {
    return tries >= TRIES || ports[rail].isDraining() ? NONE : after(rail);
  }

  /** An operation succeeded. */
  void succeeded(int rail) {
    if (failures[rail] > 0) {
      failures[rail]--;
    }
  }

  private boolean hasOther(int rail) {
    int other = after(rail);
    return other != NONE && other != rail;
  }

  private void lose(int rail, Failure why) {
    lost |= 1 << rail;
    rotation.exclude(rail);
    lostBy.putIfAbsent(rail, why);
    failure = why;
  }

  /** Why a rail was given up; empty if it is in use. */
  Optional<Failure> lostBy(int rail) {
    return isUsable(rail) ? Optional.empty() : Optional.ofNullable(lostBy.get(rail));
  }

  /** Whether every rail was given up. */
  public boolean isLost() {
    return lost == (1 << peers.length) - 1;
  }

  /** Why the last rail was given up; null if all are in use. */
  public @Nullable Failure failure() {
    return failure;
  }

  /** As {@link #failure}, for a caller that found no rail. */
  Failure reason(String operation) {
    Failure why = failure;
    return why == null ? Failures.noRail(operation) : why;
  }
}
