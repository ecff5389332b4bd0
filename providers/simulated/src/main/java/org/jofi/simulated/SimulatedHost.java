package org.jofi.simulated;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryKind;

/** A machine of the network: its NICs, and a provider that finds them. Any thread. */
public final class SimulatedHost {
  private final Network network;
  private final int index;
  private final List<SimulatedNic> nics = new ArrayList<>();
  private volatile boolean dead;

  SimulatedHost(Network network, int index) {
    this.network = network;
    this.index = index;
  }

  /** Its number, from 0. */
  public int index() {
    return index;
  }

  /** Its NICs, in order. */
  public List<SimulatedNic> nics() {
    return List.copyOf(nics);
  }

  /** Its NIC with this number, counted over all profiles. */
  public SimulatedNic nic(int number) {
    return nics.get(number);
  }

  /** A provider that finds this host's NICs, and only those. */
  public FabricProvider provider() {
    return new SimulatedProvider(network, this);
  }

  /**
   * Kills it, like a power failure: its NICs fall silent, and its participants are not stepped any
   * more. Counted as {@link Fault#DEAD_PEER}.
   */
  public void kill() {
    network.enter();
    try {
      network.faults().count(Fault.DEAD_PEER);
      die();
    } finally {
      network.exit();
    }
  }

  /** Whether it died. */
  public boolean isDead() {
    return dead;
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

  void add(SimulatedNic nic) {
    nics.add(nic);
  }

  void die() {
    dead = true;
    network.engine().died();
  }

  @Override
  public String toString() {
    return "host " + index;
  }
}
