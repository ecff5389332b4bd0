package org.jofi.simulated;

import org.jofi.fabric.Domain;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricInfo;

/** A network that a host has opened. */
final class SimulatedFabric implements Fabric {
  private final Network network;
  private final FabricInfo info;
  private final SimulatedNic nic;
  private final Lifecycle life;
  private final Runnable onClose;

  SimulatedFabric(Network network, FabricInfo info, SimulatedNic nic, Runnable onClose) {
    this.network = network;
    this.info = info;
    this.nic = nic;
    this.onClose = onClose;
    this.life = new Lifecycle(network, nic.host() + " fabric " + info.fabricName());
  }

  @Override
  public FabricInfo info() {
    return info;
  }

  @Override
  public Domain openDomain() {
    network.enter();
    try {
      life.requireOpen("fi_domain");
      return new SimulatedDomain(network, info, nic, life);
    } finally {
      network.exit();
    }
  }

  @Override
  public void close() {
    network.enter();
    try {
      if (!life.isOpen()) {
        return;
      }
      life.requireUnused(Rule.CLOSE_ORDER, "fi_close");
      life.close();
    } finally {
      network.exit();
    }
    onClose.run();
  }
}
