package org.jofi.simulated;

import java.time.Duration;
import java.util.ArrayDeque;

/** A NIC of a host, which tests can stall or kill. Any thread. */
public final class SimulatedNic {
  private static final int PORTS = 511;

  private final Network network;
  private final SimulatedHost host;
  private final int index;
  private final int number;
  private final Profile profile;

  // The following fields are used under the network's lock.
  private final ArrayDeque<DeferredWrite> deferred = new ArrayDeque<>();
  private final boolean[] portTaken = new boolean[PORTS + 1];
  private int lastPort;
  private int portsTaken;
  private boolean dead;
  long freeAt;
  long stalledUntil;

  SimulatedNic(Network network, SimulatedHost host, int index, int number, Profile profile) {
    this.network = network;
    this.host = host;
    this.index = index;
    this.number = number;
    this.profile = profile;
  }

  /** The host that it is in. */
  public SimulatedHost host() {
    return host;
  }

  /** Its number on the host, from 0. */
  public int index() {
    return index;
  }

  /** The kind of NIC that it simulates. */
  public Profile profile() {
    return profile;
  }

  /** Its domain's name, such as {@code efa0}. */
  public String name() {
    return profile.device() + index;
  }

  /** Makes it send and receive nothing for this time; counted as {@link Fault#STALLED_RAIL}. */
  public void stall(Duration time) {
    network.enter();
    try {
      network.faults().count(Fault.STALLED_RAIL);
      stallFor(time.toNanos());
    } finally {
      network.exit();
    }
  }

  /** Makes it die for good; counted as {@link Fault#DEAD_RAIL}. */
  public void kill() {
    network.enter();
    try {
      network.faults().count(Fault.DEAD_RAIL);
      die();
    } finally {
      network.exit();
    }
  }

  /** Whether it or its host died. */
  public boolean isDead() {
    return dead || host.isDead();
  }

  void die() {
    dead = true;
    network.engine().died();
  }

  void stallFor(long nanos) {
    stalledUntil = Math.max(stalledUntil, network.clock().nanoTime() + nanos);
  }

  /** Its number in the network, which is part of endpoints' addresses. */
  int number() {
    return number;
  }

  /** A port that no open endpoint has and that was not used recently; 0 if there is none. */
  int takePort() {
    for (int i = 0; i < PORTS; i++) {
      lastPort = lastPort % PORTS + 1;
      if (!portTaken[lastPort]) {
        portTaken[lastPort] = true;
        portsTaken++;
        return lastPort;
      }
    }
    return 0;
  }

  void givePort(int port) {
    portTaken[port] = false;
    portsTaken--;
  }

  /** Whether it is alive and has endpoints. */
  boolean isInUse() {
    return portsTaken > 0 && !isDead();
  }

  /** Holds a write's data back until something is read through this NIC. */
  void defer(DeferredWrite write) {
    deferred.addLast(write);
  }

  /** Writes the data that was held back to memory. */
  void flush() {
    while (!deferred.isEmpty()) {
      deferred.removeFirst().land(network.staging());
    }
  }

  @Override
  public String toString() {
    return host + " " + name();
  }
}
