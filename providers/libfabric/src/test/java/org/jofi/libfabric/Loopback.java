package org.jofi.libfabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;

/** One endpoint that knows itself, and everything below it. */
final class Loopback implements AutoCloseable {
  static final int CONTEXTS = 64;

  final Fabric fabric;
  final Domain domain;
  final AddressVector peers;
  final CompletionQueue queue;
  final Endpoint endpoint;
  final long self;
  final Arena arena = Arena.ofShared();
  final MemorySegment memory = arena.allocate(65_536, 4096);

  Loopback(String provider) {
    fabric = FabricProvider.named("libfabric").open(info(provider));
    domain = fabric.openDomain();
    peers = domain.openAddressVector(1);
    queue = domain.openCompletionQueue(256, CONTEXTS);
    endpoint = domain.openEndpoint(EndpointRequest.of("loopback", peers, queue));
    self = peers.insert(endpoint.address());
  }

  static FabricInfo info(String provider) {
    List<FabricInfo> infos =
        FabricProvider.named("libfabric")
            .discover(FabricHints.any().withProvider(provider).withHmem(false));
    return infos.stream()
        .filter(info -> info.address().startsWith("127."))
        .findFirst()
        .orElseGet(infos::getFirst);
  }

  /** Those that every libfabric has that these tests run on. */
  static Stream<String> providers() {
    boolean two = FabricProvider.named("libfabric").version().startsWith("libfabric 2");
    return Stream.of(two ? "tcp" : "net", "tcp;ofi_rxm", "sockets", "shm");
  }

  @Override
  public void close() {
    endpoint.close();
    queue.close();
    peers.close();
    domain.close();
    fabric.close();
    arena.close();
  }
}
