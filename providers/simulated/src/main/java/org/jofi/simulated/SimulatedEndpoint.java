package org.jofi.simulated;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jofi.fabric.Access;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricLimits;
import org.jofi.fabric.PostFlags;
import org.jspecify.annotations.Nullable;

/** An endpoint: takes operations in, and hands them to the engine. */
final class SimulatedEndpoint implements Endpoint {
  private final SimulatedDomain domain;
  private final Network network;
  private final SimulatedNic nic;
  private final Lifecycle life;
  private final String label;
  private final SimulatedAddressVector peers;
  private final SimulatedCompletionQueue transmitQueue;
  private final SimulatedCompletionQueue receiveQueue;
  private final Map<EndpointOption, Long> options = new EnumMap<>(EndpointOption.class);
  private final FabricLimits limits;
  private final PostChecks checks;
  private final PostGate gate;
  private final long address;
  private final List<@Nullable Flow> flows = new ArrayList<>();
  private final PostedReceives receives = new PostedReceives();
  private final ArrayDeque<Transfer> inbox = new ArrayDeque<>();
  private int inFlight;

  SimulatedEndpoint(
      SimulatedDomain domain,
      EndpointRequest request,
      SimulatedAddressVector peers,
      SimulatedCompletionQueue transmitQueue,
      SimulatedCompletionQueue receiveQueue,
      int port) {
    this.domain = domain;
    this.network = domain.network();
    this.nic = domain.nic();
    this.label = request.label();
    this.peers = peers;
    this.transmitQueue = transmitQueue;
    this.receiveQueue = receiveQueue;
    this.limits = domain.info().limits();
    this.life = new Lifecycle(network, domain.life().label() + " endpoint " + label);
    this.checks = new PostChecks(this, domain);
    this.gate = new PostGate(this, domain);
    this.address = EndpointAddress.key(nic.number(), port);
    options.putAll(EndpointOptions.defaults(domain.info(), nic.profile()));
    options.putAll(request.options());
    domain.life().addUser(life);
    peers.addUser(this);
    transmitQueue.bind(this);
    receiveQueue.bind(this);
    network.register(this, address);
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
  public int send(long from, long bytes, long descriptor, long peer, int context) {
    return message(from, bytes, descriptor, false, 0, peer, context, "fi_send");
  }

  @Override
  public int sendData(long from, long bytes, long descriptor, long data, long peer, int context) {
    return message(from, bytes, descriptor, true, data, peer, context, "fi_senddata");
  }

  private int message(
      long from,
      long bytes,
      long descriptor,
      boolean hasData,
      long data,
      long peer,
      int context,
      String call) {
    enter(call);
    try {
      RegisteredMemory region = region(descriptor);
      int refused = checks.context(transmitQueue, context, call);
      refused = refused != 0 ? refused : checks.peer(peers, peer, call);
      refused =
          refused != 0
              ? refused
              : checks.buffer(from, bytes, descriptor, region, Access.SEND, call);
      refused = refused != 0 || bytes <= limits.maxMessageBytes() ? refused : tooLong();
      refused = refused != 0 ? refused : gate.transmit(peer, context);
      if (refused != 0) {
        return refused;
      }
      Transfer transfer = begin(TransferKind.SEND, from, bytes, region, peer, context);
      transfer.hasData = hasData;
      transfer.data = immediate(data);
      return post(transfer);
    } finally {
      exit();
    }
  }

  @Override
  public int inject(long from, long bytes, long peer) {
    String call = "fi_inject";
    enter(call);
    try {
      int refused = checks.peer(peers, peer, call);
      refused = refused != 0 ? refused : checks.injected(from, bytes, call);
      refused = refused != 0 || bytes <= limits.injectBytes() ? refused : tooLong();
      refused = refused != 0 ? refused : gate.transmit(peer, -1);
      if (refused != 0) {
        return refused;
      }
      Transfer transfer = begin(TransferKind.INJECT, from, bytes, null, peer, -1);
      inject(transfer);
      return post(transfer);
    } finally {
      exit();
    }
  }

  @Override
  public int recv(long into, long bytes, long descriptor, long peer, int context) {
    String call = "fi_recv";
    enter(call);
    try {
      RegisteredMemory region = region(descriptor);
      int refused = checks.context(receiveQueue, context, call);
      refused = refused != 0 ? refused : checks.receivePeer(peers, peer, call);
      refused =
          refused != 0
              ? refused
              : checks.buffer(into, bytes, descriptor, region, Access.RECV, call);
      refused = refused != 0 ? refused : gate.receive(context);
      if (refused != 0) {
        return refused;
      }
      receiveQueue.take(context);
      if (region != null) {
        region.use(true);
      }
      life.history().add("fi_recv, slot", context);
      network.engine().receive(this, new PostedReceive(into, bytes, region, peer, context));
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
    return write(
        from, bytes, descriptor, false, 0, peer, remoteAddress, key, context, flags, "fi_write");
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
    return write(
        from,
        bytes,
        descriptor,
        true,
        data,
        peer,
        remoteAddress,
        key,
        context,
        flags,
        "fi_writedata");
  }

  private int write(
      long from,
      long bytes,
      long descriptor,
      boolean hasData,
      long data,
      long peer,
      long remoteAddress,
      long key,
      int context,
      long flags,
      String call) {
    enter(call);
    try {
      boolean injected = (flags & PostFlags.INJECT) != 0;
      RegisteredMemory region = injected ? null : region(descriptor);
      int refused = checks.context(transmitQueue, context, call);
      refused = refused != 0 ? refused : checks.flags(flags, call);
      refused = refused != 0 ? refused : checks.peer(peers, peer, call);
      if (refused == 0) {
        refused =
            injected && descriptor == 0
                ? checks.injected(from, bytes, call)
                : checks.buffer(from, bytes, descriptor, region(descriptor), Access.WRITE, call);
      }
      long most = injected ? limits.injectBytes() : limits.maxMessageBytes();
      refused = refused != 0 || bytes <= most ? refused : tooLong();
      refused = refused != 0 ? refused : gate.transmit(peer, context);
      if (refused != 0) {
        return refused;
      }
      Transfer transfer = begin(TransferKind.WRITE, from, bytes, region, peer, context);
      transfer.remoteAddress = remoteAddress;
      transfer.key = key;
      transfer.hasData = hasData;
      transfer.data = immediate(data);
      transfer.delivery = (flags & PostFlags.DELIVERY_COMPLETE) != 0;
      transfer.fence = (flags & PostFlags.FENCE) != 0;
      if (injected) {
        inject(transfer);
      }
      return post(transfer);
    } finally {
      exit();
    }
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
    String call = "fi_read";
    enter(call);
    try {
      RegisteredMemory region = region(descriptor);
      int refused = checks.context(transmitQueue, context, call);
      refused = refused != 0 ? refused : checks.peer(peers, peer, call);
      refused =
          refused != 0
              ? refused
              : checks.buffer(into, bytes, descriptor, region, Access.READ, call);
      refused = refused != 0 || bytes <= limits.maxMessageBytes() ? refused : tooLong();
      refused = refused != 0 ? refused : gate.transmit(peer, context);
      if (refused != 0) {
        return refused;
      }
      Transfer transfer = begin(TransferKind.READ, into, bytes, region, peer, context);
      transfer.remoteAddress = remoteAddress;
      transfer.key = key;
      return post(transfer);
    } finally {
      exit();
    }
  }

  @Override
  public int cancel(int context) {
    enter("fi_cancel");
    try {
      PostedReceive receive = receives.cancel(context);
      if (receive == null) {
        return -FabricErrno.ENOENT;
      }
      life.history().add("fi_cancel, slot", context);
      network.engine().cancelled(this, receive);
      return 0;
    } finally {
      exit();
    }
  }

  private Transfer begin(
      TransferKind kind,
      long local,
      long bytes,
      @Nullable RegisteredMemory region,
      long peer,
      int context) {
    Transfer transfer = network.transfers().take();
    transfer.kind = kind;
    transfer.source = this;
    transfer.flow = flow(peer);
    transfer.localAddress = local;
    transfer.length = bytes;
    transfer.localRegion = region;
    transfer.context = context;
    return transfer;
  }

  private void inject(Transfer transfer) {
    transfer.injected = true;
    network.transfers().stage(transfer, transfer.localAddress, transfer.length);
  }

  private int post(Transfer transfer) {
    transfer.postedAt = network.clock().nanoTime();
    inFlight++;
    transfer.way().inFlight++;
    transmitQueue.reserve();
    if (transfer.context >= 0) {
      transmitQueue.take(transfer.context);
    }
    RegisteredMemory region = transfer.localRegion;
    if (region != null) {
      region.use(false);
    }
    life.history().add(transfer.kind.call, transfer.context);
    network
        .trace()
        .record(TraceKind.POST, transfer.serial, transfer.kind.number(), transfer.length);
    network.events().add(transfer.postedAt + Network.DOORBELL_NANOS, Stage.DEPART, transfer);
    return 0;
  }

  private long immediate(long data) {
    int bytes = limits.cqDataBytes();
    return bytes >= 8 ? data : data & (1L << (8 * bytes)) - 1;
  }

  private static int tooLong() {
    return -FabricErrno.EMSGSIZE;
  }

  private @Nullable RegisteredMemory region(long descriptor) {
    return descriptor == 0 ? null : network.descriptors().get(descriptor);
  }

  private void enter(String call) {
    transmitQueue.guard().enter(call);
    network.enter();
    if (!life.isOpen()) {
      try {
        life.requireOpen(call);
      } finally {
        exit();
      }
    }
  }

  private void exit() {
    network.exit();
    transmitQueue.guard().exit();
  }

  @Override
  public void close() {
    network.enter();
    try {
      if (!life.isOpen()) {
        return;
      }
      life.requireUnused(Rule.CLOSE_ENDPOINT_REGIONS, "fi_close");
      network.unregister(address);
      nic.givePort((int) address & 0xFFFF);
      life.close();
      network.engine().closed(this);
      peers.removeUser(this);
      transmitQueue.unbind(this);
      receiveQueue.unbind(this);
      domain.life().removeUser(life);
    } finally {
      network.exit();
    }
  }

  // What follows is used by the engine, under the network's lock.

  Lifecycle life() {
    return life;
  }

  SimulatedNic nic() {
    return nic;
  }

  SimulatedDomain home() {
    return domain;
  }

  SimulatedCompletionQueue transmitQueue() {
    return transmitQueue;
  }

  SimulatedCompletionQueue receiveQueue() {
    return receiveQueue;
  }

  SimulatedAddressVector peers() {
    return peers;
  }

  PostedReceives receives() {
    return receives;
  }

  /** Transfers that wait until this endpoint's program polls. */
  ArrayDeque<Transfer> inbox() {
    return inbox;
  }

  /** Its address, as {@link EndpointAddress#key} has it. */
  long addressKey() {
    return address;
  }

  int inFlight() {
    return inFlight;
  }

  int inFlightTo(long peer) {
    Flow flow = peer < flows.size() ? flows.get((int) peer) : null;
    return flow == null ? 0 : flow.inFlight;
  }

  void forget(long peer) {
    if (peer < flows.size()) {
      flows.set((int) peer, null);
    }
  }

  /** The flow to a peer that the address vector knows. */
  Flow flow(long peer) {
    while (flows.size() <= peer) {
      flows.add(null);
    }
    Flow flow = flows.get((int) peer);
    if (flow == null) {
      long to = peers.address(peer);
      SimulatedNic other = to < 0 ? null : network.nic(EndpointAddress.nicOf(to));
      flow =
          new Flow(
              to, network.link(nic, other == null ? nic : other), domain.info().messageOrder());
      flows.set((int) peer, flow);
    }
    return flow;
  }

  /** An operation is over: completed, or dropped. */
  void finished(Transfer transfer) {
    inFlight--;
    transfer.way().inFlight--;
    transmitQueue.unreserve();
    RegisteredMemory region = transfer.localRegion;
    if (region != null) {
      region.unuse(false);
    }
  }

  /** Serves what waited for a poll. */
  void serveInbox() {
    for (int n = inbox.size(); n > 0; n--) {
      Transfer transfer = inbox.removeFirst();
      transfer.scheduled--;
      network.engine().serve(transfer);
      network.engine().settle(transfer);
    }
  }
}
