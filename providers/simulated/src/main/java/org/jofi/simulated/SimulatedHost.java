package org.jofi.simulated;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryKind;
import org.jofi.simulated.engine.Engine;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.network.Host;
import org.jofi.simulated.network.Network;

/** A machine of the network: its NICs, and a provider that finds them. Any thread. */
public final class SimulatedHost {
  private final Engine engine;
  private final Network network;
  private final Host host;
  private final List<SimulatedNic> nics;

  SimulatedHost(Engine engine, Host host) {
    this.engine = engine;
    this.network = engine.network();
    this.host = host;
    this.nics = host.nics().stream().map(nic -> new SimulatedNic(engine, this, nic)).toList();
  }

  /** Its number, from 0. */
  public int index() {
    return host.index();
  }

  /** Its NICs, in order. */
  public List<SimulatedNic> nics() {
    return nics;
  }

  /** Its NIC with this number, counted over all profiles. */
  public SimulatedNic nic(int number) {
    return nics.get(number);
  }

  /** A provider that finds this host's NICs, and only those. */
  public FabricProvider provider() {
    return new SimulatedProvider(engine, this);
  }

  /**
   * Kills it, like a power failure: its NICs fall silent, and its participants are not stepped any
   * more. Counted as {@link Fault#DEAD_PEER}.
   */
  public void kill() {
    network.enter();
    try {
      network.faults().count(Fault.DEAD_PEER);
      host.die();
      engine.died();
    } finally {
      network.exit();
    }
  }

  /** Whether it died. */
  public boolean isDead() {
    return host.isDead();
  }

  /**
   * Allocates memory of a simulated device. It is memory of this process, so that tests can read
   * it, but the fabric treats it as device memory: it must be registered with this kind. It is
   * zeroed and stays valid as long as the network.
   *
   * @param kind a kind other than {@link MemoryKind#HOST}
   * @param bytes its length, at least 1
   */
  public MemorySegment allocateDevice(MemoryKind kind, long bytes) {
    if (kind == MemoryKind.HOST) {
      throw new IllegalArgumentException("host memory comes from an Arena, not from a device");
    }
    network.enter();
    try {
      return network.deviceMemory().allocate(kind, bytes);
    } finally {
      network.exit();
    }
  }

  /**
   * Opens a simulated device of this kind, which can copy to and from device memory: its own
   * allocations and those of {@link #allocateDevice}. For one thread; the caller closes it.
   *
   * @param kind a kind other than {@link MemoryKind#HOST}
   */
  public SimulatedDevice openDevice(MemoryKind kind) {
    if (kind == MemoryKind.HOST) {
      throw new IllegalArgumentException("a host is no device");
    }
    return new SimulatedDevice(network, this, kind);
  }

  Host host() {
    return host;
  }

  @Override
  public String toString() {
    return host.toString();
  }
}
