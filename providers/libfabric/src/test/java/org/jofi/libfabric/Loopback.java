package org.jofi.libfabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Capability;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MrMode;

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
    this(info(provider));
  }

  /** Negotiated to reach device memory as well. */
  static Loopback withHmem(String provider) {
    return new Loopback(
        FabricProvider.named("libfabric")
            .discover(FabricHints.any().withProvider(provider))
            .stream()
            .filter(info -> info.has(Capability.HMEM))
            .findFirst()
            .orElseThrow());
  }

  /** As if the provider had demanded these modes of registration. */
  static Loopback negotiating(String provider, MrMode... modes) {
    return new Loopback(negotiated(provider, modes));
  }

  /** As if another provider had been negotiated: what jofi does for that one is done here. */
  static Loopback named(String name, String provider) {
    FabricInfo real = info(provider);
    return new Loopback(
        FabricInfo.builder(name, real.fabricName(), real.domainName())
            .capabilities(real.capabilities())
            .mrModes(real.mrModes())
            .limits(real.limits())
            .attachment(Objects.requireNonNull(real.attachment()))
            .build());
  }

  private static FabricInfo negotiated(String provider, MrMode... modes) {
    FabricInfo real = info(provider);
    return FabricInfo.builder(real.provider(), real.fabricName(), real.domainName())
        .capabilities(real.capabilities())
        .mrModes(Set.of(modes))
        .limits(real.limits())
        .attachment(Objects.requireNonNull(real.attachment()))
        .build();
  }

  private Loopback(FabricInfo info) {
    fabric = FabricProvider.named("libfabric").open(info);
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
