package org.jofi.simulated.spi;

import org.jofi.fabric.PostFlags;
import org.jofi.simulated.engine.Engine;
import org.jofi.simulated.engine.Flows;
import org.jofi.simulated.engine.QueuePair;
import org.jofi.simulated.engine.Transfer;
import org.jofi.simulated.engine.TransferKind;
import org.jofi.simulated.network.AddressTable;
import org.jofi.simulated.registration.ProtectionDomain;
import org.jofi.simulated.registration.RegisteredMemory;

/** Posts an endpoint's sends, writes and reads. Under the network's lock. */
final class Transmitter {
  private final QueuePair endpoint;
  private final AddressTable peers;
  private final Flows flows;
  private final Engine engine;
  private final ProtectionDomain domain;
  private final SimulatedCompletionQueue queue;
  private final PostChecks checks;
  private final PostGate gate;
  private final long immediateMask;

  Transmitter(
      QueuePair endpoint,
      AddressTable peers,
      Flows flows,
      Engine engine,
      ProtectionDomain domain,
      SimulatedCompletionQueue queue,
      PostChecks checks,
      PostGate gate) {
    this.endpoint = endpoint;
    this.peers = peers;
    this.flows = flows;
    this.engine = engine;
    this.domain = domain;
    this.queue = queue;
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
    RegisteredMemory region = domain.described(descriptor);
    int refused = kind == TransferKind.INJECT ? 0 : checks.context(queue, context, call);
    refused = refused != 0 ? refused : checks.flags(flags, call);
    refused = refused != 0 ? refused : checks.peer(peers, peer, call);
    refused =
        refused != 0
            ? refused
            : checks.source(local, bytes, descriptor, region, access, injected, call);
    refused = refused != 0 ? refused : gate.transmit(peer, context);
    if (refused != 0) {
      return refused;
    }
    Transfer transfer = engine.transfer();
    transfer.setOperation(kind, endpoint, flows.to(peer));
    // The buffer of an injected operation may be reused at once.
    transfer.setLocal(local, bytes, injected ? null : region, context);
    transfer.setRemote(remoteAddress, key);
    transfer.setImmediate(hasData, data & immediateMask);
    transfer.setFlags(flags);
    engine.start(transfer);
    return 0;
  }
}
