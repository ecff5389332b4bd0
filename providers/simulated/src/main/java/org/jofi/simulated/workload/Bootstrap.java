package org.jofi.simulated.workload;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.Fault;
import org.jspecify.annotations.Nullable;

/**
 * What ranks exchange without using the fabric: addresses, keys, what was sent, and how far they
 * are. It plays the role of a bootstrap network.
 */
final class Bootstrap {
  /** The phases of a rank. */
  enum Phase {
    OPENING,
    RUNNING,
    DRAINED,
    CLOSED
  }

  private final Simulation simulation;
  private final @Nullable ConnectionInfo[][] infos;
  private final Phase[] phases;
  private final List<Transmission> transmissions = new ArrayList<>();
  private Map<Fault, Long> faults = new EnumMap<>(Fault.class);

  Bootstrap(WorkloadOptions options, Simulation simulation) {
    this.simulation = simulation;
    this.infos = new ConnectionInfo[options.ranks()][options.rails()];
    this.phases = new Phase[options.ranks()];
    java.util.Arrays.fill(phases, Phase.OPENING);
  }

  void publish(int rank, int rail, ConnectionInfo info) {
    infos[rank][rail] = info;
  }

  /** Null if the rank died before it opened. */
  @Nullable ConnectionInfo connectionInfo(int rank, int rail) {
    return infos[rank][rail];
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
  Transmission record(
      int from,
      int to,
      int rail,
      long bytes,
      @Nullable MemorySegment place,
      int slot,
      boolean announced) {
    Transmission transmission =
        new Transmission(transmissions.size(), from, to, rail, bytes, place, slot, announced);
    transmissions.add(transmission);
    return transmission;
  }

  /** The record with this number. */
  Transmission transmission(long id) {
    if (id < 0 || id >= transmissions.size()) {
      throw new IllegalStateException("nothing was ever sent under the number " + id);
    }
    return transmissions.get((int) id);
  }

  /**
   * The first message or write that must have arrived completely and has not; null if there is
   * none.
   */
  @Nullable Transmission missing() {
    faults = simulation.faults();
    boolean anyDied = struck(Fault.DEAD_RAIL) || struck(Fault.DEAD_PEER);
    boolean messagesMayBeLost = anyDied || struck(Fault.COMPLETION_ERROR);
    for (Transmission transmission : transmissions) {
      boolean excused =
          !transmission.sent
              || transmission.failed
              || (transmission.place == null ? messagesMayBeLost : anyDied);
      boolean arrived =
          transmission.announced
              ? transmission.arrivals > 0
              : transmission.seen || transmission.mismatch() < 0;
      if (!excused && !arrived) {
        return transmission;
      }
    }
    return null;
  }

  private boolean struck(Fault fault) {
    return faults.getOrDefault(fault, 0L) > 0;
  }
}
