package org.jofi.simulated.registration;

import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.UnboundRegion;
import org.jofi.simulated.contract.Rule;
import org.jofi.simulated.network.Network;

/** A region that is not bound to an endpoint yet. */
public final class SimulatedUnboundRegion implements UnboundRegion {
  private static final String CALL = "fi_mr_bind";

  private final RegisteredMemory memory;
  private boolean usedUp;

  public SimulatedUnboundRegion(RegisteredMemory memory) {
    this.memory = memory;
  }

  @Override
  public BoundRegion bind(Endpoint endpoint) {
    Network network = memory.domain().network();
    network.enter();
    try {
      requireUnbound(network);
      RegionHolder to = requireEndpoint(network, endpoint);
      memory.bind(to.life());
      usedUp = true;
      return new SimulatedBoundRegion(memory, to.life());
    } finally {
      network.exit();
    }
  }

  private void requireUnbound(Network network) {
    if (usedUp) {
      String detail = memory.life().label() + " is bound already";
      throw network
          .contracts()
          .misuse(
              Rule.MR_BIND_ONCE,
              CALL,
              memory.life().history(),
              detail,
              new IllegalStateException(detail));
    }
    memory.life().requireOpen(CALL);
  }

  private RegionHolder requireEndpoint(Network network, Endpoint endpoint) {
    if (!(endpoint instanceof RegionHolder to) || to.protectionDomain() != memory.domain()) {
      String detail = endpoint.label() + " is not of " + memory.domain().life().label();
      throw network
          .contracts()
          .misuse(
              Rule.MR_BIND_ENDPOINT,
              CALL,
              memory.life().history(),
              detail,
              new IllegalArgumentException(detail));
    }
    if (!to.life().isOpen()) {
      String detail = to.life().label() + " is closed";
      throw network
          .contracts()
          .misuse(
              Rule.MR_BIND_ENDPOINT,
              CALL,
              to.life().history(),
              detail,
              new IllegalStateException(detail));
    }
    return to;
  }

  @Override
  public void close() {
    if (!usedUp) {
      memory.close();
    }
  }
}
