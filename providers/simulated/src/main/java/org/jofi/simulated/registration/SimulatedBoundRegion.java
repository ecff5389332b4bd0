package org.jofi.simulated.registration;

import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryRegion;
import org.jofi.simulated.contract.Rule;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.network.Lifecycle;
import org.jofi.simulated.network.Network;

/** A region that is bound but not enabled. */
final class SimulatedBoundRegion implements BoundRegion {
  private static final String CALL = "fi_mr_enable";

  private final RegisteredMemory memory;
  private final Lifecycle endpoint;
  private boolean usedUp;

  SimulatedBoundRegion(RegisteredMemory memory, Lifecycle endpoint) {
    this.memory = memory;
    this.endpoint = endpoint;
  }

  @Override
  public MemoryRegion enable() {
    Network network = memory.domain().network();
    network.enter();
    try {
      requireBound(network);
      if (network.faults().strikes(Fault.REGISTRATION_ENOMEM)) {
        throw new FabricException(
            CALL, FabricErrno.ENOSPC, "injected: no list entry left", memory.life().label());
      }
      memory.enable(memory.domain().keyFor(memory.request()));
      usedUp = true;
      return new SimulatedMemoryRegion(memory);
    } finally {
      network.exit();
    }
  }

  private void requireBound(Network network) {
    if (usedUp) {
      String detail = memory.life().label() + " is enabled already";
      throw network
          .contracts()
          .misuse(
              Rule.MR_ENABLE_ONCE,
              CALL,
              memory.life().history(),
              detail,
              new IllegalStateException(detail));
    }
    memory.life().requireOpen(CALL);
    endpoint.requireOpen(CALL);
  }

  @Override
  public void close() {
    if (!usedUp) {
      memory.close();
    }
  }
}
