package org.jofi.conformance.liars;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.UnboundRegion;

/** Lies of threads, of rails, of polling and of device memory. */
final class SharingLies {
  private SharingLies() {}

  private static final int MANY = 50;

  /** Threads that meet before each round take turns at least once a round. */
  private static final int TURNS = 8;

  static List<Liar> all() {
    return List.of(
        new Liar(
            "delivers nothing to a fourth thread",
            "tcp",
            "threading/handed-over",
            () ->
                new Lie() {
                  @Override
                  void deliver(LyingQueue queue, Event event) {
                    if (queue.pollers.size() < 4) {
                      queue.give(event);
                    }
                  }
                }),
        new Liar(
            "loses completions when threads use different domains",
            "efa",
            "threading/domains-in-parallel",
            () ->
                losing(
                    queue ->
                        queue.domain.provider.threads.switches() > TURNS
                            && queue.domain.provider.domains.size() > 3)),
        new Liar(
            "loses completions when threads use different queues of a domain",
            "cxi",
            "threading/queues-in-parallel",
            () ->
                losing(
                    queue ->
                        queue.domain.threads.switches() > TURNS
                            && queue.domain.endpoints.size() > 1)),
        new Liar(
            "does not register beside traffic",
            "tcp",
            "threading/registration-in-parallel",
            RefusingForeigners::new),
        new Liar(
            "waits when there is nothing to poll",
            "tcp",
            "progress/poll-never-waits",
            () ->
                new Lie() {
                  @Override
                  void polling(LyingQueue queue) {
                    if (queue.emptyPolls > 80 && queue.domain.provider.isIdleAfterGreeting()) {
                      LockSupport.parkNanos(30_000_000);
                    }
                  }
                }),
        new Liar(
            "gives the same address to two endpoints",
            "efa",
            "isolation/addresses",
            () ->
                new Lie() {
                  @Override
                  byte[] address(LyingEndpoint endpoint) {
                    return endpoint.domain.isSecondRail() && endpoint.addressCalls > 1
                        ? endpoint
                            .domain
                            .provider
                            .domains
                            .getFirst()
                            .endpoints
                            .getFirst()
                            .real()
                            .address()
                        : super.address(endpoint);
                  }
                }),
        new Liar(
            "delivers completions of one rail to another",
            "cxi",
            "isolation/completions",
            () ->
                new Lie() {
                  @Override
                  void deliver(LyingQueue queue, Event event) {
                    queue.give(event);
                    for (LyingDomain other : queue.domain.provider.domains) {
                      if (other.isSecondRail() && !queue.domain.isSecondRail()) {
                        other
                            .endpoints
                            .getFirst()
                            .transmitQueue
                            .pending
                            .add(event.withContext(CompletionQueue.NO_CONTEXT));
                      }
                    }
                  }
                }),
        new Liar(
            "has one space of keys for all domains",
            "tcp",
            "isolation/same-key-twice",
            OneKeySpace::new),
        new Liar(
            "opens regions of one rail through another", "tcp", "isolation/keys", Leaking::new),
        new Liar(
            "stops a rail when another one's endpoint closes",
            "efa",
            "isolation/closing-one",
            () ->
                losing(
                    queue ->
                        queue.domain.isSecondRail() && queue.domain.provider.closed.get() > 0)),
        new Liar(
            "claims FI_HMEM and registers no device memory",
            "cxi",
            "hmem/registers",
            () ->
                new Lie() {
                  @Override
                  UnboundRegion registerForEndpoint(LyingDomain domain, RegionRequest request) {
                    if (request.kind() != MemoryKind.HOST) {
                      throw new FabricException(
                          "fi_mr_regattr", FabricErrno.ENOSYS, "", "a lying provider");
                    }
                    return super.registerForEndpoint(domain, request);
                  }
                }),
        new Liar(
            "loses writes to device memory",
            "efa",
            "hmem/write",
            () -> new Pretending(false, SharingLies::isToDevice)),
        new Liar(
            "takes device memory for host memory",
            "tcp",
            "hmem/refused-without-claim",
            () ->
                new Lie() {
                  @Override
                  MemoryRegion register(LyingDomain domain, RegionRequest request) {
                    return domain
                        .real()
                        .register(
                            RegionRequest.host(
                                    request.address(), request.lengthBytes(), request.access())
                                .withRequestedKey(request.requestedKey()));
                  }
                }));
  }

  private static boolean isToDevice(LyingEndpoint endpoint, Post post) {
    LyingEndpoint target = endpoint.peer(post.peer());
    return post.kind() == Post.Kind.WRITE
        && target != null
        && target.domain.regions.stream()
            .anyMatch(region -> region.open && region.asked.kind() != MemoryKind.HOST);
  }

  private static Lie losing(java.util.function.Predicate<LyingQueue> when) {
    return new Lie() {
      @Override
      void deliver(LyingQueue queue, Event event) {
        if (!when.test(queue)) {
          queue.give(event);
        }
      }
    };
  }

  private static final class RefusingForeigners extends Lie {
    private final Map<LyingDomain, Integer> foreign = new HashMap<>();

    @Override
    synchronized MemoryRegion register(LyingDomain domain, RegionRequest request) {
      if (!Thread.currentThread().equals(domain.opener)
          && foreign.merge(domain, 1, Integer::sum) > MANY) {
        throw new FabricException("fi_mr_regattr", FabricErrno.EBUSY, "", "a lying provider");
      }
      return super.register(domain, request);
    }
  }

  private static final class OneKeySpace extends Lie {
    private final Map<Long, MemoryRegion> keys = new HashMap<>();

    @Override
    synchronized MemoryRegion register(LyingDomain domain, RegionRequest request) {
      if (keys.containsKey(request.requestedKey())) {
        throw new FabricException("fi_mr_regattr", FabricErrno.ENOKEY, "", "a lying provider");
      }
      MemoryRegion region = super.register(domain, request);
      keys.put(request.requestedKey(), region);
      return region;
    }

    @Override
    synchronized void closeRegion(LyingRegion region) {
      super.closeRegion(region);
      keys.remove(region.asked.requestedKey(), region.real());
    }
  }

  /** Registers in every open domain of the host. */
  private static final class Leaking extends Lie {
    private final Map<MemoryRegion, List<MemoryRegion>> copies = new HashMap<>();
    private final Map<LyingDomain, Map<Long, MemoryRegion>> byKey = new HashMap<>();

    @Override
    synchronized MemoryRegion register(LyingDomain domain, RegionRequest request) {
      MemoryRegion inTheWay = copiesIn(domain).remove(request.requestedKey());
      if (inTheWay != null) {
        inTheWay.close();
      }
      MemoryRegion region = super.register(domain, request);
      List<MemoryRegion> others = new ArrayList<>();
      for (LyingDomain other : domain.provider.domains) {
        if (other != domain) {
          copy(other, request, others);
        }
      }
      copies.put(region, others);
      return region;
    }

    private Map<Long, MemoryRegion> copiesIn(LyingDomain domain) {
      return byKey.computeIfAbsent(domain, any -> new HashMap<>());
    }

    private void copy(LyingDomain into, RegionRequest request, List<MemoryRegion> others) {
      try {
        MemoryRegion copy = into.real().register(request);
        copiesIn(into).put(request.requestedKey(), copy);
        others.add(copy);
      } catch (FabricException taken) {
        if (taken.errno() != FabricErrno.ENOKEY) {
          throw taken;
        }
      }
    }

    @Override
    synchronized void closeRegion(LyingRegion region) {
      copies.getOrDefault(region.real(), List.of()).forEach(MemoryRegion::close);
      super.closeRegion(region);
    }

    @Override
    synchronized void close(AutoCloseable parent, Runnable real) {
      if (parent instanceof LyingDomain domain
          && domain.endpoints.stream().noneMatch(endpoint -> endpoint.open)) {
        copiesIn(domain).values().forEach(MemoryRegion::close);
      }
      super.close(parent, real);
    }
  }
}
