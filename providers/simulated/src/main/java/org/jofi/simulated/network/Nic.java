package org.jofi.simulated.network;

import java.util.ArrayDeque;
import org.jofi.simulated.profile.Profile;

/** A NIC of a host. Used under the network's lock, unless it says otherwise. */
public final class Nic {
  private static final int PORTS = 511;

  private final Network network;
  private final Host host;
  private final int index;
  private final int number;
  private final Profile profile;
  private final ArrayDeque<DeferredWrite> deferred = new ArrayDeque<>();
  private final boolean[] portTaken = new boolean[PORTS + 1];
  private int lastPort;
  private int portsTaken;
  private boolean dead;
  private long freeAt;
  private long stalledUntil;

  Nic(Network network, Host host, int index, int number, Profile profile) {
    this.network = network;
    this.host = host;
    this.index = index;
    this.number = number;
    this.profile = profile;
  }

  /** The host that it is in. Any thread. */
  public Host host() {
    return host;
  }

  /** Its number on the host, from 0. Any thread. */
  public int index() {
    return index;
  }

  /** The kind of NIC that it simulates. Any thread. */
  public Profile profile() {
    return profile;
  }

  /** Its domain's name, such as {@code efa0}. Any thread. */
  public String name() {
    return profile.device() + index;
  }

  /** Whether it or its host died. Any thread. */
  public boolean isDead() {
    return dead || host.isDead();
  }

  /** Makes it die for good. */
  public void die() {
    dead = true;
  }

  /** Makes it send and receive nothing for this time. */
  public void stallFor(long nanos) {
    stalledUntil = Math.max(stalledUntil, network.clock().nanoTime() + nanos);
  }

  /** Until when it sends and receives nothing. */
  public long stalledUntil() {
    return stalledUntil;
  }

  /** Puts something on the wire that occupies it for this time; returns when the wire is free. */
  public long occupy(long now, long nanos) {
    freeAt = Math.max(now, freeAt) + nanos;
    return freeAt;
  }

  /** When the wire is free. */
  public long freeAt() {
    return freeAt;
  }

  /** Its number in the network, which is part of endpoints' addresses. Any thread. */
  public int number() {
    return number;
  }

  /** A port that no open endpoint has and that was not used recently; 0 if there is none. */
  public int takePort() {
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

  /** Gives a port back. */
  public void givePort(int port) {
    portTaken[port] = false;
    portsTaken--;
  }

  /** Whether it is alive and has endpoints. */
  public boolean isInUse() {
    return portsTaken > 0 && !isDead();
  }

  /** Holds a write's data back until something is read through this NIC. */
  public void defer(DeferredWrite write) {
    deferred.addLast(write);
  }

  /** Writes the data that was held back to memory. */
  public void flush() {
    while (!deferred.isEmpty()) {
      deferred.removeFirst().land(network.staging());
    }
  }

  @Override
  public String toString() {
    return host + " " + name();
  }
}
