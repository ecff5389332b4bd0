package org.jofi.simulated.network;

import java.util.ArrayList;
import java.util.List;

/** A machine of the network, with its NICs. Any thread. */
public final class Host {
  private final int index;
  private final List<Nic> nics = new ArrayList<>();
  private volatile boolean dead;

  Host(int index) {
    this.index = index;
  }

  /** Its number, from 0. */
  public int index() {
    return index;
  }

  /** Its NICs, in order. */
  public List<Nic> nics() {
    return List.copyOf(nics);
  }

  /** Whether it died. */
  public boolean isDead() {
    return dead;
  }

  /** Makes it die for good, with its NICs. */
  public void die() {
    dead = true;
  }

  void add(Nic nic) {
    nics.add(nic);
  }

  @Override
  public String toString() {
    return "host " + index;
  }
}
