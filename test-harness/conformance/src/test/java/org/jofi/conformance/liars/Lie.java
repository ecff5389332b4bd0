package org.jofi.conformance.liars;

import java.util.List;
import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.UnboundRegion;

/** What a liar does otherwise than the provider behind it: nothing, unless overridden. */
abstract class Lie {
  List<FabricInfo> discover(LyingProvider provider, FabricHints hints) {
    return provider.real().discover(hints);
  }

  void opening(LyingProvider provider) {}

  MemoryRegion register(LyingDomain domain, RegionRequest request) {
    return domain.real().register(request);
  }

  UnboundRegion registerForEndpoint(LyingDomain domain, RegionRequest request) {
    return domain.real().registerForEndpoint(request);
  }

  BoundRegion bind(LyingUnboundRegion region, Endpoint endpoint) {
    return region.real().bind(endpoint);
  }

  MemoryRegion enable(LyingBoundRegion region) {
    return region.real().enable();
  }

  RegionRequest request(LyingRegion region) {
    return region.real().request();
  }

  long key(LyingRegion region) {
    return region.real().key();
  }

  long descriptor(LyingRegion region) {
    return region.real().descriptor();
  }

  void closeRegion(LyingRegion region) {
    region.real().close();
  }

  void closeBound(LyingBoundRegion region) {
    region.real().close();
  }

  byte[] address(LyingEndpoint endpoint) {
    return endpoint.real().address();
  }

  int post(LyingEndpoint endpoint, Post post) {
    return endpoint.pass(post);
  }

  int recv(
      LyingEndpoint endpoint, long address, long bytes, long descriptor, long peer, int context) {
    return endpoint.real().recv(address, bytes, descriptor, peer, context);
  }

  int cancel(LyingEndpoint endpoint, int context) {
    return endpoint.real().cancel(context);
  }

  /** Before each poll. */
  void polling(LyingQueue queue) {}

  int poll(LyingQueue queue, int limit) {
    return queue.pass(limit);
  }

  void deliver(LyingQueue queue, Event event) {
    queue.give(event);
  }

  void closeEndpoint(LyingEndpoint endpoint) {
    endpoint.real().close();
  }

  /** A queue, an address vector, a domain or a fabric closes. */
  void close(AutoCloseable parent, Runnable real) {
    real.run();
  }
}
