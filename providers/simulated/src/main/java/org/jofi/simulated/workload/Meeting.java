package org.jofi.simulated.workload;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jofi.simulated.Fault;
import org.jofi.simulated.Simulation;
import org.jspecify.annotations.Nullable;

/**
 * What ranks exchange without using the fabric: addresses, keys, what was sent, and how far they
 * are. It plays the role of a bootstrap network.
 */
final class Meeting {
  /** The phases of a rank. */
  enum Phase {
    OPENING,
    RUNNING,
    DRAINED,
    CLOSED
  }

  private final Simulation simulation;
  private final @Nullable Door[][] doors;
  private final Phase[] phases;
  private final List<Shipment> shipments = new ArrayList<>();
  private Map<Fault, Long> faults = new EnumMap<>(Fault.class);

  Meeting(WorkloadOptions options, Simulation simulation) {
    this.simulation = simulation;
    this.doors = new Door[options.ranks()][options.rails()];
    this.phases = new Phase[options.ranks()];
    java.util.Arrays.fill(phases, Phase.OPENING);
  }

  void publish(int rank, int rail, Door door) {
    doors[rank][rail] = door;
  }

  /** Null if the rank died before it opened. */
  @Nullable Door door(int rank, int rail) {
    return doors[rank][rail];
  }

  void enter(int rank, Phase phase) {
    phases[rank] = phase;
  }

  /** Whether every live rank has reached this phase. */
  boolean allReached(Phase phase) {
    for (int rank = 0; rank < phases.length; rank++) {
      if (!simulation.host(rank).isDead() && phases[rank].compareTo(phase) < 0) {
        return false;
      }
    }
    return true;
  }

  /** Records what is about to be sent. */
  Shipment ship(
      int from,
      int to,
      int rail,
      long bytes,
      @Nullable MemorySegment place,
      int slot,
      boolean announced) {
    Shipment shipment =
        new Shipment(shipments.size(), from, to, rail, bytes, place, slot, announced);
    shipments.add(shipment);
    return shipment;
  }

  /** The record with this number. */
  Shipment shipment(long id) {
    if (id < 0 || id >= shipments.size()) {
      throw new IllegalStateException("nothing was ever sent under the number " + id);
    }
    return shipments.get((int) id);
  }

  /**
   * The first message or write that must have arrived completely and has not; null if there is
   * none.
   */
  @Nullable Shipment missing() {
    faults = simulation.faults();
    boolean anyDied = struck(Fault.DEAD_RAIL) || struck(Fault.DEAD_PEER);
    boolean messagesMayBeLost = anyDied || struck(Fault.COMPLETION_ERROR);
    for (Shipment shipment : shipments) {
      boolean excused =
          !shipment.sent
              || shipment.failed
              || (shipment.place == null ? messagesMayBeLost : anyDied);
      boolean arrived =
          shipment.announced ? shipment.arrivals > 0 : shipment.seen || shipment.mismatch() < 0;
      if (!excused && !arrived) {
        return shipment;
      }
    }
    return null;
  }

  private boolean struck(Fault fault) {
    return faults.getOrDefault(fault, 0L) > 0;
  }
}
