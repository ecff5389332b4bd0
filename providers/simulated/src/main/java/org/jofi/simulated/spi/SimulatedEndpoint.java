package org.jofi.simulated.spi;

import java.util.EnumMap;
import java.util.Map;
import org.jofi.fabric.Access;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointLimits;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricLimits;
import org.jofi.fabric.PostFlags;
import org.jofi.simulated.contract.Rule;
import org.jofi.simulated.engine.Engine;
import org.jofi.simulated.engine.Flows;
import org.jofi.simulated.engine.QueuePair;
import org.jofi.simulated.engine.TransferKind;
import org.jofi.simulated.network.EndpointAddress;
import org.jofi.simulated.network.Lifecycle;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.network.Nic;
import org.jofi.simulated.registration.ProtectionDomain;
import org.jofi.simulated.registration.RegionHolder;
import org.jofi.simulated.registration.RegisteredMemory;

/** An endpoint: accepts operations and passes them to the engine. */
final class SimulatedEndpoint implements Endpoint, RegionHolder {
  private final SimulatedDomain domain;
  private final ProtectionDomain protection;
  private final Network network;
  private final Engine engine;
  private final Nic nic;
  private final Lifecycle life;
  private final String label;
  private final SimulatedAddressVector peers;
  private final SimulatedCompletionQueue transmitQueue;
  private final SimulatedCompletionQueue receiveQueue;
  private final Map<EndpointOption, Long> options = new EnumMap<>(EndpointOption.class);
  private final FabricLimits limits;
  private final EndpointLimits lengths;
  private final PostChecks checks;
  private final PostGate gate;
  private final Transmitter transmitter;
  private final long address;
  private final Flows flows;
  private final QueuePair pair;

  SimulatedEndpoint(
      SimulatedDomain domain,
      ProtectionDomain protection,
      Engine engine,
      EndpointRequest request,
      SimulatedAddressVector peers,
      SimulatedCompletionQueue transmitQueue,
      SimulatedCompletionQueue receiveQueue,
      int port) {
    this.domain = domain;
    this.protection = protection;
    this.engine = engine;
    this.network = protection.network();
    this.nic = protection.nic();
    this.label = request.label();
    this.peers = peers;
    this.transmitQueue = transmitQueue;
    this.receiveQueue = receiveQueue;
    this.limits = protection.info().limits();
    this.lengths = EndpointLimits.of(limits);
    this.life = new Lifecycle(network, protection.life().label() + " endpoint " + label);
    this.address = EndpointAddress.key(nic.number(), port);
    this.pair =
        new QueuePair(
            protection,
            life,
            address,
            peers.peers(),
            transmitQueue.completions(),
            receiveQueue.completions());
    this.checks = new PostChecks(life, protection);
    this.flows = new Flows(protection, peers.peers());
    this.gate = new PostGate(pair, flows, engine, protection);
    this.transmitter =
        new Transmitter(
            pair, peers.peers(), flows, engine, protection, transmitQueue, checks, gate);
    options.putAll(EndpointOptions.defaults(protection.info(), nic.profile()));
    options.putAll(request.options());
    protection.life().addUser(life);
    peers.addUser(this);
    transmitQueue.bind(pair);
    receiveQueue.bind(pair);
    engine.opened(pair);
  }

  @Override
  public Domain domain() {
    return domain;
  }

  @Override
  public String label() {
    return label;
  }

  @Override
  public byte[] address() {
    return EndpointAddress.encode(nic.profile().negotiation().addressBytes(), address);
  }

  @Override
  public EndpointLimits limits() {
    return lengths;
  }

  @Override
  public long option(EndpointOption option) {
    network.enter();
    try {
      life.requireOpen("fi_getopt");
      Long value = options.get(option);
      if (value == null) {
        throw new FabricException(
            "fi_getopt", FabricErrno.ENOPROTOOPT, "", life.label() + ", " + option);
      }
      return value;
    } finally {
      network.exit();
    }
  }

  @Override
  public void setOption(EndpointOption option, long value) {
    network.enter();
    try {
      life.requireOpen("fi_setopt");
      int errno = EndpointOptions.refuses(nic.profile(), limits, option, value);
      if (errno != 0) {
        throw new FabricException(
            "fi_setopt", errno, "", "%s, %s = %d".formatted(life.label(), option, value));
      }
      options.put(option, value);
    } finally {
      network.exit();
    }
  }

  @Override
  public int send(long from, long bytes, long descriptor, long peer, int context, long flags) {
    return transmit(
        TransferKind.SEND,
        "fi_send",
        from,
        bytes,
        descriptor,
        Access.SEND,
        peer,
        0,
        0,
        context,
        flags,
        false,
        0);
  }

  @Override
  public int sendData(
      long from, long bytes, long descriptor, long data, long peer, int context, long flags) {
    return transmit(
        TransferKind.SEND,
        "fi_senddata",
        from,
        bytes,
        descriptor,
        Access.SEND,
        peer,
        0,
        0,
        context,
        flags,
        true,
        data);
  }

  @Override
  public int inject(long from, long bytes, long peer) {
    return transmit(
        TransferKind.INJECT,
        "fi_inject",
        from,
        bytes,
        0,
        Access.SEND,
        peer,
        0,
        0,
        CompletionQueue.NO_CONTEXT,
        PostFlags.INJECT,
        false,
        0);
  }

  @Override
  public int recv(long into, long bytes, long descriptor, long peer, int context) {
    String call = "fi_recv";
    enter(call);
    try {
      RegisteredMemory region = protection.described(descriptor);
      int refused = checks.context(receiveQueue, context, call);
      refused = refused != 0 ? refused : checks.receivePeer(peers.peers(), peer, call);
      refused =
          refused != 0
              ? refused
              : checks.buffer(into, bytes, descriptor, region, Access.RECV, call);
      refused = refused != 0 ? refused : gate.receive(context);
      if (refused != 0) {
        return refused;
      }
      engine.receive(pair, into, bytes, region, peer, context);
      return 0;
    } finally {
      exit();
    }
  }

  @Override
  public int write(
      long from,
      long bytes,
      long descriptor,
      long peer,
      long remoteAddress,
      long key,
      int context,
      long flags) {
    return transmit(
        TransferKind.WRITE,
        "fi_write",
        from,
        bytes,
        descriptor,
        Access.WRITE,
        peer,
        remoteAddress,
        key,
        context,
        flags,
        false,
        0);
  }

  @Override
  public int writeData(
      long from,
      long bytes,
      long descriptor,
      long data,
      long peer,
      long remoteAddress,
      long key,
      int context,
      long flags) {
    if (!nic.profile().behaviour().writeData()) {
      return -FabricErrno.ENOSYS;
    }
    return transmit(
        TransferKind.WRITE,
        "fi_writedata",
        from,
        bytes,
        descriptor,
        Access.WRITE,
        peer,
        remoteAddress,
        key,
        context,
        flags,
        true,
        data);
  }

  @Override
  public int read(
      long into,
      long bytes,
      long descriptor,
      long peer,
      long remoteAddress,
      long key,
      int context) {
    return transmit(
        TransferKind.READ,
        "fi_read",
        into,
        bytes,
        descriptor,
        Access.READ,
        peer,
        remoteAddress,
        key,
        context,
        0,
        false,
        0);
  }

  @Override
  public int cancel(int context) {
    enter("fi_cancel");
    try {
      if (context < 0 || context >= receiveQueue.contexts()) {
        return -FabricErrno.EINVAL;
      }
      return engine.cancel(pair, context) ? 0 : -FabricErrno.ENOENT;
    } finally {
      exit();
    }
  }

  private int transmit(
      TransferKind kind,
      String call,
      long local,
      long bytes,
      long descriptor,
      long access,
      long peer,
      long remoteAddress,
      long key,
      int context,
      long flags,
      boolean hasData,
      long data) {
    enter(call);
    try {
      return transmitter.post(
          kind,
          call,
          local,
          bytes,
          descriptor,
          access,
          peer,
          remoteAddress,
          key,
          context,
          flags,
          hasData,
          data);
    } finally {
      exit();
    }
  }

  private void enter(String call) {
    enterGroup(call);
    if (!life.isOpen()) {
      try {
        life.requireOpen(call);
      } finally {
        exit();
      }
    }
  }

  /** Checks that one thread at a time uses the endpoint and both of its queues. */
  private void enterGroup(String call) {
    transmitQueue.guard().enter(call);
    try {
      receiveQueue.guard().enter(call);
    } catch (RuntimeException e) {
      transmitQueue.guard().exit();
      throw e;
    }
    network.enter();
  }

  private void exit() {
    network.exit();
    receiveQueue.guard().exit();
    transmitQueue.guard().exit();
  }

  @Override
  public void close() {
    enterGroup("fi_close");
    try {
      if (!life.isOpen()) {
        return;
      }
      life.requireUnused(Rule.CLOSE_ENDPOINT_REGIONS, "fi_close");
      nic.givePort((int) address & 0xFFFF);
      life.close();
      engine.closed(pair);
      peers.removeUser(this);
      transmitQueue.unbind(pair);
      receiveQueue.unbind(pair);
      protection.life().removeUser(life);
    } finally {
      exit();
    }
  }

  @Override
  public ProtectionDomain protectionDomain() {
    return protection;
  }

  @Override
  public Lifecycle life() {
    return life;
  }

  /** Its flows to peers. */
  Flows flows() {
    return flows;
  }
}
