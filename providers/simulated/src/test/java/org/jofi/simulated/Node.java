package org.jofi.simulated;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Addressing;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.RegistrationScope;

/** One side of a test: a NIC with an endpoint, and the completions that came. */
final class Node implements CompletionQueue.Sink {
  /** A completion, noted. */
  record Done(int context, long flags, long bytes, long data, int errno, long overflow) {}

  final FabricInfo info;
  final Fabric fabric;
  final Domain domain;
  final AddressVector peers;
  final CompletionQueue queue;
  final Endpoint endpoint;
  final List<Done> done = new ArrayList<>();
  private long lastKey;

  Node(FabricProvider provider, int nic, int depth) {
    this(provider, provider.discover(FabricHints.any()).get(nic), depth);
  }

  Node(FabricProvider provider, FabricInfo info, int depth) {
    this.info = info;
    fabric = provider.open(info);
    domain = fabric.openDomain();
    peers = domain.openAddressVector(4);
    queue = domain.openCompletionQueue(depth, 64);
    endpoint = domain.openEndpoint(EndpointRequest.of("test", peers, queue));
  }

  /** Inserts another node as peer 0, 1, … */
  long know(Node other) {
    return peers.insert(other.endpoint.address());
  }

  int poll() {
    int polled = queue.poll(this, 64);
    if (polled < 0) {
      throw new AssertionError("poll: " + FabricErrno.name(-polled));
    }
    return polled;
  }

  /** Registers memory whichever way the NIC demands, with a fresh key where one is chosen. */
  MemoryRegion register(MemorySegment segment, long access) {
    return register(RegionRequest.host(segment, access));
  }

  MemoryRegion register(RegionRequest request) {
    RegionRequest keyed =
        info.keyOwner() == KeyOwner.APPLICATION ? request.withRequestedKey(++lastKey) : request;
    return info.registrationScope() == RegistrationScope.DOMAIN
        ? domain.register(keyed)
        : domain.registerForEndpoint(keyed).bind(endpoint).enable();
  }

  /** How a peer addresses the first byte of a region. */
  long base(MemorySegment segment) {
    return info.addressing() == Addressing.VIRTUAL ? segment.address() : 0;
  }

  /** The only completion of that context so far. */
  Done of(int context) {
    List<Done> matching = done.stream().filter(d -> d.context() == context).toList();
    if (matching.size() != 1) {
      throw new AssertionError(
          "expected one completion of context %d, got %s".formatted(context, done));
    }
    return matching.getFirst();
  }

  boolean has(int context) {
    return done.stream().anyMatch(d -> d.context() == context);
  }

  @Override
  public void completed(int context, long flags, long lengthBytes, long data) {
    done.add(new Done(context, flags, lengthBytes, data, 0, 0));
  }

  @Override
  public void failed(CompletionError error) {
    done.add(
        new Done(
            error.context(),
            error.flags(),
            error.lengthBytes(),
            error.data(),
            error.errno(),
            error.overflowBytes()));
  }
}
