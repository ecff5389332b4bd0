package org.jofi.simulated.spi;

import java.util.Map;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.RegistrationScope;
import org.jofi.fabric.UnboundRegion;
import org.jofi.simulated.contract.Rule;
import org.jofi.simulated.engine.Engine;
import org.jofi.simulated.network.Lifecycle;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.network.Nic;
import org.jofi.simulated.registration.ProtectionDomain;
import org.jofi.simulated.registration.RegisteredMemory;
import org.jofi.simulated.registration.Registrations;
import org.jofi.simulated.registration.SimulatedMemoryRegion;
import org.jofi.simulated.registration.SimulatedUnboundRegion;

/** One open NIC: the objects in it, and its keys. */
final class SimulatedDomain implements Domain {
  private final ProtectionDomain domain;
  private final Network network;
  private final Engine engine;
  private final Lifecycle parent;
  private final Lifecycle life;
  private final Registrations registrations;

  SimulatedDomain(Engine engine, FabricInfo info, Nic nic, Lifecycle parent) {
    this.engine = engine;
    this.network = engine.network();
    this.domain = new ProtectionDomain(network, info, nic);
    this.parent = parent;
    this.life = domain.life();
    this.registrations = new Registrations(domain);
    parent.addUser(life);
  }

  @Override
  public FabricInfo info() {
    return domain.info();
  }

  @Override
  public AddressVector openAddressVector(int expectedPeers) {
    network.enter();
    try {
      life.requireOpen("fi_av_open");
      return new SimulatedAddressVector(domain);
    } finally {
      network.exit();
    }
  }

  @Override
  public CompletionQueue openCompletionQueue(int depth, int contexts) {
    if (depth < 1 || contexts < 1) {
      throw new IllegalArgumentException(
          "a completion queue needs a depth and contexts of at least 1, not %d and %d"
              .formatted(depth, contexts));
    }
    network.enter();
    try {
      life.requireOpen("fi_cq_open");
      return new SimulatedCompletionQueue(domain, engine, depth, contexts);
    } finally {
      network.exit();
    }
  }

  @Override
  public Endpoint openEndpoint(EndpointRequest request) {
    network.enter();
    try {
      life.requireOpen("fi_endpoint");
      SimulatedAddressVector peers =
          own(request.addressVector(), SimulatedAddressVector.class, "address vector");
      SimulatedCompletionQueue transmit =
          own(request.transmitQueue(), SimulatedCompletionQueue.class, "transmit queue");
      SimulatedCompletionQueue receive =
          own(request.receiveQueue(), SimulatedCompletionQueue.class, "receive queue");
      requireOptions(request);
      int port = domain.nic().takePort();
      if (port == 0) {
        throw new FabricException(
            "fi_endpoint", FabricErrno.ENOSPC, "no port left on " + domain.nic(), life.label());
      }
      return new SimulatedEndpoint(this, domain, engine, request, peers, transmit, receive, port);
    } finally {
      network.exit();
    }
  }

  private <T> T own(Object object, Class<T> type, String what) {
    if (type.isInstance(object)) {
      boolean ours =
          object instanceof SimulatedAddressVector vector
              ? vector.domain() == domain
              : object instanceof SimulatedCompletionQueue queue && queue.domain() == domain;
      if (ours) {
        return type.cast(object);
      }
    }
    String detail = "the " + what + " is not of " + life.label();
    throw network
        .contracts()
        .misuse(
            Rule.SAME_DOMAIN,
            "fi_ep_bind",
            life.history(),
            detail,
            new IllegalArgumentException(detail));
  }

  private void requireOptions(EndpointRequest request) {
    for (Map.Entry<EndpointOption, Long> asked : request.options().entrySet()) {
      EndpointOption option = asked.getKey();
      long value = asked.getValue();
      int errno =
          EndpointOptions.refuses(domain.nic().profile(), domain.info().limits(), option, value);
      if (errno != 0) {
        throw new FabricException(
            "fi_setopt", errno, "", "%s, %s = %d".formatted(life.label(), option, value));
      }
    }
  }

  @Override
  public MemoryRegion register(RegionRequest request) {
    network.enter();
    try {
      RegisteredMemory memory = registrations.register(request, RegistrationScope.DOMAIN);
      memory.enable(domain.keyFor(request));
      return new SimulatedMemoryRegion(memory);
    } finally {
      network.exit();
    }
  }

  @Override
  public UnboundRegion registerForEndpoint(RegionRequest request) {
    network.enter();
    try {
      return new SimulatedUnboundRegion(
          registrations.register(request, RegistrationScope.ENDPOINT));
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
      parent.removeUser(life);
      life.close();
    } finally {
      network.exit();
    }
  }

  @Override
  public String toString() {
    return life.label();
  }
}
