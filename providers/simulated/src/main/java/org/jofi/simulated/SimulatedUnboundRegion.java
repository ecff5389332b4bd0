package org.jofi.simulated;

import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.UnboundRegion;

/** A region that is not bound to an endpoint yet. */
final class SimulatedUnboundRegion implements UnboundRegion {
  private static final String CALL = "fi_mr_bind";

  private final RegisteredMemory memory;
  private boolean usedUp;

  SimulatedUnboundRegion(RegisteredMemory memory) {
    this.memory = memory;
  }

  @Override
  public BoundRegion bind(Endpoint endpoint) {
    Network network = memory.domain().network();
    network.enter();
    try {
      requireUnbound(network);
      SimulatedEndpoint to = requireEndpoint(network, endpoint);
      memory.bind(to);
      usedUp = true;
      return new SimulatedBoundRegion(memory, to);
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

  private SimulatedEndpoint requireEndpoint(Network network, Endpoint endpoint) {
    if (!(endpoint instanceof SimulatedEndpoint to) || to.domain() != memory.domain()) {
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
