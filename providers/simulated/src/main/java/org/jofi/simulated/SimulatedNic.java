package org.jofi.simulated;

import java.time.Duration;
import org.jofi.simulated.engine.Engine;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.network.Nic;
import org.jofi.simulated.profile.Profile;

/** A NIC of a host, which tests can stall or kill. Any thread. */
public final class SimulatedNic {
  private final Engine engine;
  private final SimulatedHost host;
  private final Nic nic;

  SimulatedNic(Engine engine, SimulatedHost host, Nic nic) {
    this.engine = engine;
    this.host = host;
    this.nic = nic;
  }

  /** The host that it is in. */
  public SimulatedHost host() {
    return host;
  }

  /** Its number on the host, from 0. */
  public int index() {
    return nic.index();
  }

  /** The kind of NIC that it simulates. */
  public Profile profile() {
    return nic.profile();
  }

  /** Its domain's name, such as {@code efa0}. */
  public String name() {
    return nic.name();
  }

  /** Makes it send and receive nothing for this time; counted as {@link Fault#STALLED_RAIL}. */
  public void stall(Duration time) {
    engine.network().enter();
    try {
      engine.network().faults().count(Fault.STALLED_RAIL);
      nic.stallFor(time.toNanos());
    } finally {
      engine.network().exit();
    }
  }

  /** Makes it die for good; counted as {@link Fault#DEAD_RAIL}. */
  public void kill() {
    engine.network().enter();
    try {
      engine.network().faults().count(Fault.DEAD_RAIL);
      nic.die();
      engine.died();
    } finally {
      engine.network().exit();
    }
  }

  /** Whether it or its host died. */
  public boolean isDead() {
    return nic.isDead();
  }

  @Override
  public String toString() {
    return nic.toString();
  }
}
