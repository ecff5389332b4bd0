package org.jofi.simulated.spi;

import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Capability;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricLimits;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.PostFlags;
import org.jofi.simulated.contract.Rule;
import org.jofi.simulated.network.AddressTable;
import org.jofi.simulated.network.Contracts;
import org.jofi.simulated.network.Lifecycle;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.registration.ProtectionDomain;
import org.jofi.simulated.registration.RegisteredMemory;
import org.jspecify.annotations.Nullable;

/**
 * Checks the contracts of posting calls. Each method returns 0, or the negative errno that the call
 * returns. Under the network's lock.
 */
final class PostChecks {
  private static final long WRITE_FLAGS =
      PostFlags.MORE
          | PostFlags.FENCE
          | PostFlags.INJECT
          | PostFlags.TRANSMIT_COMPLETE
          | PostFlags.DELIVERY_COMPLETE;

  private final ProtectionDomain domain;
  private final Network network;
  private final Contracts contracts;
  private final Lifecycle life;
  private final FabricLimits limits;
  private final boolean localMode;
  private final boolean fence;
  private final boolean directed;

  PostChecks(Lifecycle life, ProtectionDomain domain) {
    this.life = life;
    this.domain = domain;
    this.network = domain.network();
    this.contracts = network.contracts();
    this.limits = domain.info().limits();
    this.localMode = domain.info().mrModes().contains(MrMode.LOCAL);
    this.fence = domain.info().has(Capability.FENCE);
    this.directed = domain.info().has(Capability.DIRECTED_RECV);
  }

  /** Checks that the context slot belongs to the queue and is free. */
  int context(SimulatedCompletionQueue queue, int context, String call) {
    if (context < 0 || context >= queue.contexts()) {
      return refuse(Rule.CONTEXT_RANGE, call, "slot %d of %d".formatted(context, queue.contexts()));
    }
    if (queue.completions().isBusy(context)) {
      return refuse(Rule.CONTEXT_REUSE, call, "slot %d is in flight".formatted(context));
    }
    return 0;
  }

  /** Checks that the peer is in the address vector. */
  int peer(AddressTable peers, long peer, String call) {
    return peers.knows(peer) ? 0 : refuse(Rule.PEER_KNOWN, call, "no peer has the number " + peer);
  }

  /** Checks that a receive may name this peer. */
  int receivePeer(AddressTable peers, long peer, String call) {
    if (peer == AddressVector.ANY) {
      return 0;
    }
    return directed
        ? peer(peers, peer, call)
        : contracts.refuse(
            Rule.DIRECTED_RECEIVE,
            FabricErrno.EOPNOTSUPP,
            call,
            life.history(),
            "peer %d".formatted(peer));
  }

  /** Checks that writes have these flags. */
  int flags(long flags, String call) {
    if ((flags & ~WRITE_FLAGS) != 0) {
      return refuse(Rule.POST_FLAGS, call, "0x%x".formatted(flags & ~WRITE_FLAGS));
    }
    if ((flags & PostFlags.FENCE) != 0 && !fence) {
      return refuse(Rule.FENCE, call, domain.info().toString());
    }
    return 0;
  }

  /** Checks the local buffer of a send, write or read, and its length. */
  int source(
      long address,
      long bytes,
      long descriptor,
      @Nullable RegisteredMemory region,
      long access,
      boolean injected,
      String call) {
    int refused =
        injected && descriptor == 0
            ? injected(address, bytes, call)
            : buffer(address, bytes, descriptor, region, access, call);
    if (refused != 0) {
      return refused;
    }
    return bytes <= (injected ? limits.injectBytes() : limits.maxMessageBytes())
        ? 0
        : -FabricErrno.EMSGSIZE;
  }

  /** Checks that the buffer matches its descriptor, or needs none. */
  int buffer(
      long address,
      long bytes,
      long descriptor,
      @Nullable RegisteredMemory region,
      long access,
      String call) {
    if (bytes < 0) {
      return -FabricErrno.EINVAL;
    }
    if (descriptor == 0) {
      return bytes == 0 ? 0 : bare(address, bytes, call);
    }
    if (region == null || region.domain() != domain) {
      return refuse(
          Rule.DESCRIPTOR_VALID,
          call,
          "no open region of %s has the descriptor 0x%x".formatted(domain, descriptor));
    }
    if (region.endpoint() != null && region.endpoint() != life) {
      return refuse(
          Rule.DESCRIPTOR_ENDPOINT,
          call,
          "%s is bound to another endpoint".formatted(region.life()));
    }
    if ((region.request().access() & access) != access) {
      return refuse(
          Rule.DESCRIPTOR_ACCESS,
          call,
          "%s needs %s, has %s"
              .formatted(
                  region.life(),
                  Access.describe(access),
                  Access.describe(region.request().access())));
    }
    if (bytes > 0 && !region.covers(address, bytes)) {
      return refuse(
          Rule.DESCRIPTOR_COVERS,
          call,
          "[0x%x, +%d) is not in %s".formatted(address, bytes, region.request()));
    }
    return 0;
  }

  /** Checks that the buffer needs no descriptor. */
  private int bare(long address, long bytes, String call) {
    if (localMode) {
      return refuse(Rule.DESCRIPTOR_REQUIRED, call, "%d bytes without one".formatted(bytes));
    }
    return injected(address, bytes, call);
  }

  /**
   * Checks the buffer of an injected message: it is copied at once, and needs no descriptor even
   * with FI_MR_LOCAL.
   */
  private int injected(long address, long bytes, String call) {
    if (bytes < 0) {
      return -FabricErrno.EINVAL;
    }
    if (bytes > 0 && network.deviceMemory().kindOf(address, bytes) != MemoryKind.HOST) {
      return refuse(Rule.DEVICE_DESCRIPTOR, call, "%d bytes without one".formatted(bytes));
    }
    if (!network.mapped().covers(address, bytes)) {
      return contracts.refuse(
          Rule.BUFFER_MAPPED,
          FabricErrno.EFAULT,
          call,
          life.history(),
          "0x%x, +%d".formatted(address, bytes));
    }
    return 0;
  }

  private int refuse(Rule rule, String call, String detail) {
    return contracts.refuse(rule, FabricErrno.EINVAL, call, life.history(), detail);
  }
}
