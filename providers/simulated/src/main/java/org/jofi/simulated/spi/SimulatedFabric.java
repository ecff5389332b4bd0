package org.jofi.simulated.spi;

import org.jofi.fabric.Domain;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricInfo;
import org.jofi.simulated.contract.Rule;
import org.jofi.simulated.engine.Engine;
import org.jofi.simulated.network.Lifecycle;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.network.Nic;

/** A network that a host has opened. */
public final class SimulatedFabric implements Fabric {
  private final Engine engine;
  private final Network network;
  private final FabricInfo info;
  private final Nic nic;
  private final Lifecycle life;
  private final Runnable onClose;

  public SimulatedFabric(Engine engine, FabricInfo info, Nic nic, Runnable onClose) {
    this.engine = engine;
    this.network = engine.network();
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
      return new SimulatedDomain(engine, info, nic, life);
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
