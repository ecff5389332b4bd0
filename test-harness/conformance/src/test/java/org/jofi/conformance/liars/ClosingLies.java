package org.jofi.conformance.liars;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jofi.conformance.subject.SimulatedSubject;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;

/** Lies of fi_close. */
final class ClosingLies {
  private ClosingLies() {}

  static List<Liar> all() {
    return List.of(
        swallowing("a queue", "efa", "closing/queue-in-use", CompletionQueue.class::isInstance),
        swallowing(
            "an address vector",
            "tcp",
            "closing/address-vector-in-use",
            AddressVector.class::isInstance),
        swallowing("a domain", "cxi", "closing/domain-in-use", Domain.class::isInstance),
        swallowing("a fabric", "efa", "closing/fabric-in-use", Fabric.class::isInstance),
        new Liar(
            "fails to close a fabric again",
            "tcp",
            "closing/twice",
            () ->
                new Lie() {
                  private final Set<AutoCloseable> closed = new HashSet<>();

                  @Override
                  synchronized void close(AutoCloseable parent, Runnable real) {
                    real.run();
                    if (parent instanceof Fabric && !closed.add(parent)) {
                      throw new IllegalStateException("closed already");
                    }
                  }
                }),
        new Liar(
            "polls closed queues",
            "efa",
            "closing/use-after-close",
            () ->
                new Lie() {
                  @Override
                  int poll(LyingQueue queue, int limit) {
                    return queue.endpoint != null && !queue.endpoint.open ? 0 : queue.pass(limit);
                  }
                }),
        new Liar(
            "does not close an endpoint with receives posted",
            "tcp",
            "closing/receives-posted",
            () ->
                new Lie() {
                  @Override
                  void closeEndpoint(LyingEndpoint endpoint) {
                    if (endpoint.open && endpoint.receives.size() == 8) {
                      throw busy();
                    }
                    super.closeEndpoint(endpoint);
                  }
                }),
        new Liar(
            "lets writes land when their target is closed",
            "efa",
            "closing/endpoint-ends-writes",
            LateLanding::new),
        new Liar("opens a fabric only so often", "cxi", "closing/open-again", NineOpenings::new),
        new Liar(
            "closes an endpoint that regions are bound to",
            "cxi",
            "closing/endpoint-before-its-regions",
            () ->
                new Lie() {
                  @Override
                  void closeEndpoint(LyingEndpoint endpoint) {
                    if (endpoint.bound.stream().noneMatch(region -> region.open)) {
                      super.closeEndpoint(endpoint);
                    }
                  }
                }),
        new Liar(
            "fails to close a region again",
            "efa",
            "closing/region-twice",
            () ->
                new Lie() {
                  @Override
                  void closeRegion(LyingRegion region) {
                    if (!region.open
                        && region.closedAtCall + 1 == region.domain.provider.calls.get()) {
                      throw new IllegalStateException("closed already");
                    }
                    super.closeRegion(region);
                  }
                }),
        new Liar(
            "tells keys of closed regions",
            "tcp",
            "closing/region-use-after-close",
            () ->
                new Lie() {
                  @Override
                  long key(LyingRegion region) {
                    return region.open ? super.key(region) : region.asked.requestedKey();
                  }
                }));
  }

  private static FabricException busy() {
    return new FabricException("fi_close", FabricErrno.EBUSY, "", "a lying provider");
  }

  private static Liar swallowing(
      String what, String profile, String breaks, Predicate<AutoCloseable> which) {
    return new Liar(
        "says that " + what + " in use is closed",
        profile,
        breaks,
        () ->
            new Lie() {
              @Override
              void close(AutoCloseable parent, Runnable real) {
                try {
                  real.run();
                } catch (FabricException refused) {
                  if (!which.test(parent)) {
                    throw refused;
                  }
                }
              }
            });
  }

  /** Loses something with each fabric that nothing is sent on. */
  private static final class NineOpenings extends Lie {
    private int idle;

    @Override
    synchronized void opening(LyingProvider provider) {
      idle = provider.posts.get() > 0 ? 0 : idle + 1;
      if (idle > 8) {
        idle = 0;
        throw new FabricException("fi_fabric", FabricErrno.EMFILE, "", "a lying provider");
      }
    }
  }

  /** Writes into large memory once its endpoint is closed. */
  private static final class LateLanding extends Lie {
    private static final long LARGE = new SimulatedSubject("efa", null).moreThanIsUnderWay();

    private LyingDomain domain;
    private long target;
    private boolean closed;

    @Override
    synchronized MemoryRegion register(LyingDomain in, RegionRequest request) {
      if (request.lengthBytes() >= LARGE && Access.isRemote(request.access())) {
        domain = in;
        target = request.address();
        closed = false;
      }
      return super.register(in, request);
    }

    @Override
    synchronized void closeEndpoint(LyingEndpoint endpoint) {
      super.closeEndpoint(endpoint);
      closed |= endpoint.domain().equals(domain);
    }

    @Override
    synchronized void polling(LyingQueue queue) {
      if (closed && target != 0) {
        Memory.spoil(target);
        target = 0;
      }
    }
  }
}
