package org.jofi.simulated.workload;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Addressing;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.RegistrationScope;
import org.jspecify.annotations.Nullable;

/**
 * One NIC of a rank, with its endpoint, memory and regions. It opens and closes them in the right
 * order.
 */
final class Rail implements AutoCloseable {
  static final int CONTEXTS = 48;
  static final int RECEIVES = 12;
  static final int SLOTS = 6;
  static final int SLOT_BYTES = 2048;
  private static final int DEPTH = 32;
  private static final int ATTEMPTS = 100;

  private final FabricInfo info;
  private final Fabric fabric;
  private final Domain domain;
  private final AddressVector peers;
  private final CompletionQueue queue;
  private final Endpoint endpoint;
  private final MemorySegment window;
  private final MemorySegment source;
  private final MemorySegment buffers;
  private final MemorySegment scratch;
  private final MemoryRegion windowRegion;
  private final MemoryRegion sourceRegion;
  private final MemoryRegion bufferRegion;
  private final List<MemoryRegion> extra = new ArrayList<>();
  private final ArrayDeque<Integer> freeContexts = new ArrayDeque<>();
  private long lastKey;

  Rail(FabricProvider provider, FabricInfo info, int ranks, String label, Arena memory) {
    this.info = info;
    window = memory.allocate((long) ranks * SLOTS * SLOT_BYTES, 64);
    source = memory.allocate(SLOT_BYTES, 64);
    buffers = memory.allocate((long) CONTEXTS * SLOT_BYTES, 64);
    scratch = memory.allocate(SLOT_BYTES, 64);
    fabric = provider.open(info);
    domain = fabric.openDomain();
    peers = domain.openAddressVector(ranks);
    queue = domain.openCompletionQueue(DEPTH, CONTEXTS);
    endpoint = domain.openEndpoint(EndpointRequest.of(label, peers, queue));
    windowRegion = insist(window, Access.REMOTE_WRITE);
    sourceRegion = insist(source, Access.REMOTE_READ);
    bufferRegion = insist(buffers, Access.LOCAL);
    for (int context = 0; context < CONTEXTS; context++) {
      freeContexts.addLast(context);
    }
  }

  /** What peers need to know. */
  ConnectionInfo connectionInfo() {
    return new ConnectionInfo(
        endpoint::address,
        base(window),
        windowRegion.key(),
        window,
        base(source),
        sourceRegion.key());
  }

  private long base(MemorySegment segment) {
    return info.addressing() == Addressing.VIRTUAL ? segment.address() : 0;
  }

  Endpoint endpoint() {
    return endpoint;
  }

  CompletionQueue queue() {
    return queue;
  }

  MemorySegment source() {
    return source;
  }

  /** The buffer of a context, with this many bytes. */
  MemorySegment buffer(int context, long bytes) {
    return buffers.asSlice((long) context * SLOT_BYTES, bytes);
  }

  long descriptor() {
    return bufferRegion.descriptor();
  }

  void insert(byte[] address, int expected) {
    long peer = peers.insert(address);
    if (peer != expected) {
      throw new IllegalStateException("peer %d got the number %d".formatted(expected, peer));
    }
  }

  /** A free context; null if there is none. */
  @Nullable Integer takeContext() {
    return freeContexts.pollFirst();
  }

  void giveContext(int context) {
    freeContexts.addLast(context);
  }

  /** Registers an additional region, only to close it later. */
  void registerMore() {
    extra.add(register(scratch, Access.ALL));
  }

  boolean hasMore() {
    return !extra.isEmpty();
  }

  /** Closes one of the additional regions. */
  void closeMore(int which) {
    extra.remove(which % extra.size()).close();
  }

  private MemoryRegion insist(MemorySegment segment, long access) {
    for (int attempt = 1; ; attempt++) {
      try {
        return register(segment, access);
      } catch (FabricException e) {
        if (attempt == ATTEMPTS || !isRefusal(e)) {
          throw e;
        }
      }
    }
  }

  /** Whether registering failed with an error that is allowed and may go away later. */
  static boolean isRefusal(FabricException e) {
    return e.errno() == FabricErrno.ENOMEM
        || e.errno() == FabricErrno.ENOSPC
        || e.errno() == FabricErrno.ENOKEY;
  }

  private MemoryRegion register(MemorySegment segment, long access) {
    RegionRequest request = RegionRequest.host(segment, access);
    if (info.keyOwner() == KeyOwner.APPLICATION) {
      request = request.withRequestedKey(++lastKey);
    }
    if (info.registrationScope() == RegistrationScope.DOMAIN) {
      return domain.register(request);
    }
    // Each step's object closes the region if the next step did not take it over.
    try (var unbound = domain.registerForEndpoint(request);
        var bound = unbound.bind(endpoint)) {
      return bound.enable();
    }
  }

  /**
   * Closes everything in the order that the registration scope requires. No operation may be in
   * flight.
   */
  @Override
  public void close() {
    if (info.registrationScope() == RegistrationScope.ENDPOINT) {
      closeRegions();
      endpoint.close();
    } else {
      endpoint.close();
      closeRegions();
    }
    queue.close();
    peers.close();
    domain.close();
    fabric.close();
  }

  private void closeRegions() {
    extra.forEach(MemoryRegion::close);
    extra.clear();
    bufferRegion.close();
    sourceRegion.close();
    windowRegion.close();
  }
}
