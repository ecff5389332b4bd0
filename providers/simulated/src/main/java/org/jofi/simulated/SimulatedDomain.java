package org.jofi.simulated;

import java.util.Map;
import org.agrona.collections.Long2ObjectHashMap;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.RegistrationScope;
import org.jofi.fabric.UnboundRegion;

/** One open NIC: the objects in it, and its keys. */
final class SimulatedDomain implements Domain {
  private final Network network;
  private final FabricInfo info;
  private final SimulatedNic nic;
  private final Lifecycle parent;
  private final Lifecycle life;
  private final Registrations registrations;
  private final Long2ObjectHashMap<RegisteredMemory> keys = new Long2ObjectHashMap<>();
  private final Long2ObjectHashMap<Lifecycle> requestedKeys = new Long2ObjectHashMap<>();
  private long lastKey;

  SimulatedDomain(Network network, FabricInfo info, SimulatedNic nic, Lifecycle parent) {
    this.network = network;
    this.info = info;
    this.nic = nic;
    this.parent = parent;
    this.life = new Lifecycle(network, nic.host() + " domain " + info.domainName());
    this.registrations = new Registrations(this);
    parent.addUser(life);
  }

  Network network() {
    return network;
  }

  SimulatedNic nic() {
    return nic;
  }

  Lifecycle life() {
    return life;
  }

  /** The regions with remote access, by key. */
  Long2ObjectHashMap<RegisteredMemory> keys() {
    return keys;
  }

  /** The keys that the application chose, with the object that has each. */
  Long2ObjectHashMap<Lifecycle> requestedKeys() {
    return requestedKeys;
  }

  /**
   * The key of a region that becomes usable: the requested one, or one that was never used before.
   */
  long keyFor(RegionRequest request) {
    if (info.keyOwner() == KeyOwner.APPLICATION) {
      return request.requestedKey();
    }
    int bytes = info.limits().mrKeyBytes();
    long mask = bytes >= 8 ? -1L : (1L << (8 * bytes)) - 1;
    long key;
    do {
      lastKey += 1 + network.draw(16);
      key = ((long) nic.number() << 40 | lastKey << 4 | 9) & mask;
    } while (keys.containsKey(key));
    return key;
  }

  @Override
  public FabricInfo info() {
    return info;
  }

  @Override
  public AddressVector openAddressVector(int expectedPeers) {
    network.enter();
    try {
      life.requireOpen("fi_av_open");
      return new SimulatedAddressVector(this);
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
      return new SimulatedCompletionQueue(this, depth, contexts);
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
      int port = nic.takePort();
      if (port == 0) {
        throw new FabricException(
            "fi_endpoint", FabricErrno.ENOSPC, "no port left on " + nic, life.label());
      }
      return new SimulatedEndpoint(this, request, peers, transmit, receive, port);
    } finally {
      network.exit();
    }
  }

  private <T> T own(Object object, Class<T> type, String what) {
    if (type.isInstance(object)) {
      boolean ours =
          object instanceof SimulatedAddressVector vector
              ? vector.domain() == this
              : object instanceof SimulatedCompletionQueue queue && queue.domain() == this;
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
      int errno = EndpointOptions.refuses(nic.profile(), info.limits(), option, value);
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
      memory.enable(keyFor(request));
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
