package org.jofi.simulated;

import org.jofi.fabric.PostFlags;

/** Posts an endpoint's sends, writes and reads. Under the network's lock. */
final class Transmitter {
  private final SimulatedEndpoint endpoint;
  private final Network network;
  private final SimulatedCompletionQueue queue;
  private final PostChecks checks;
  private final PostGate gate;
  private final long immediateMask;

  Transmitter(
      SimulatedEndpoint endpoint, SimulatedDomain domain, PostChecks checks, PostGate gate) {
    this.endpoint = endpoint;
    this.network = domain.network();
    this.queue = endpoint.transmitQueue();
    this.checks = checks;
    this.gate = gate;
    int bytes = domain.info().limits().cqDataBytes();
    this.immediateMask = bytes >= 8 ? -1L : (1L << (8 * bytes)) - 1;
  }

  /** Posts an operation. Returns 0, or the negative errno with which it is refused. */
  int post(
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
    boolean injected = (flags & PostFlags.INJECT) != 0;
    RegisteredMemory region = descriptor == 0 ? null : network.descriptors().get(descriptor);
    int refused = kind == TransferKind.INJECT ? 0 : checks.context(queue, context, call);
    refused = refused != 0 ? refused : checks.flags(flags, call);
    refused = refused != 0 ? refused : checks.peer(endpoint.peers(), peer, call);
    refused =
        refused != 0
            ? refused
            : checks.source(local, bytes, descriptor, region, access, injected, call);
    refused = refused != 0 ? refused : gate.transmit(peer, context);
    if (refused != 0) {
      return refused;
    }
    Transfer transfer = network.transfers().take();
    transfer.kind = kind;
    transfer.source = endpoint;
    transfer.flow = endpoint.flows().to(peer);
    transfer.localAddress = local;
    transfer.length = bytes;
    // The buffer of an injected operation may be reused at once.
    transfer.localRegion = injected ? null : region;
    transfer.context = context;
    transfer.remoteAddress = remoteAddress;
    transfer.key = key;
    transfer.hasData = hasData;
    transfer.data = data & immediateMask;
    transfer.delivery = (flags & PostFlags.DELIVERY_COMPLETE) != 0;
    transfer.fence = (flags & PostFlags.FENCE) != 0;
    if (injected) {
      transfer.injected = true;
      network.transfers().stage(transfer, local, bytes);
    }
    start(transfer);
    return 0;
  }

  private void start(Transfer transfer) {
    transfer.postedAt = network.clock().nanoTime();
    endpoint.life().history().add(transfer.kind.call, transfer.context);
    network
        .trace()
        .record(TraceKind.POST, transfer.serial, transfer.kind.number(), transfer.length);
    endpoint.started();
    transfer.way().inFlight++;
    queue.reserve();
    if (transfer.context >= 0) {
      queue.take(transfer.context);
    }
    RegisteredMemory region = transfer.localRegion;
    if (region != null) {
      region.use(false);
    }
    network.events().add(transfer.postedAt + Network.DOORBELL_NANOS, Stage.DEPART, transfer);
  }
}
