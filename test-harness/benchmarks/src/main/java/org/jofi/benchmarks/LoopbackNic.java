package org.jofi.benchmarks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;

/** One endpoint of a libfabric provider, on loopback where there is a choice, with memory. */
final class LoopbackNic implements AutoCloseable {
  private static final int DEPTH = 256;
  private static final int CONTEXTS = 64;

  private final Arena arena = Arena.ofShared();
  private final Fabric fabric;
  private final Domain domain;
  private final AddressVector peers;
  private final CompletionQueue queue;
  private final Endpoint endpoint;
  private final MemorySegment memory = arena.allocate(65_536, 4096);
  private final MemoryRegion region;

  LoopbackNic(String provider) {
    FabricProvider libfabric = FabricProvider.named("libfabric");
    List<FabricInfo> infos =
        libfabric.discover(FabricHints.any().withProvider(provider).withHmem(false)).stream()
            .filter(info -> info.provider().equals(provider))
            .toList();
    if (infos.isEmpty()) {
      throw new IllegalArgumentException("no provider " + provider);
    }
    fabric =
        libfabric.open(
            infos.stream()
                .filter(info -> info.address().startsWith("127."))
                .findFirst()
                .orElseGet(infos::getFirst));
    domain = fabric.openDomain();
    peers = domain.openAddressVector(1);
    queue = domain.openCompletionQueue(DEPTH, CONTEXTS);
    endpoint = domain.openEndpoint(EndpointRequest.of("benchmark", peers, queue));
    region = domain.register(RegionRequest.host(memory, Access.ALL).withRequestedKey(1));
  }

  AddressVector peers() {
    return peers;
  }

  CompletionQueue queue() {
    return queue;
  }

  Endpoint endpoint() {
    return endpoint;
  }

  MemorySegment memory() {
    return memory;
  }

  long descriptor() {
    return region.descriptor();
  }

  long key() {
    return region.key();
  }

  FabricInfo info() {
    return fabric.info();
  }

  @Override
  public void close() {
    endpoint.close();
    region.close();
    queue.close();
    peers.close();
    domain.close();
    fabric.close();
    arena.close();
  }
}
