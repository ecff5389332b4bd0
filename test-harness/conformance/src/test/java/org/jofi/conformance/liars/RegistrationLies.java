package org.jofi.conformance.liars;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jofi.fabric.Access;
import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.UnboundRegion;

/** Lies of fi_mr(3), in either scope. */
final class RegistrationLies {
  private RegistrationLies() {}

  private static final long NEVER_MAPPED = 0x1000;

  static List<Liar> all() {
    return List.of(
        new Liar(
            "registers for an endpoint without FI_MR_ENDPOINT",
            "tcp",
            "registration/scope",
            AnyScope::new),
        new Liar(
            "registers without an endpoint under FI_MR_ENDPOINT",
            "cxi",
            "registration/scope",
            AnyScope::new),
        new Liar("registers what is not mapped", "efa", "registration/unmapped", Unmapped::new),
        new Liar(
            "loses what closed regions took",
            "tcp",
            "registration/closed-regions-return",
            Leaking::new),
        new Liar(
            "registers for every access",
            "efa",
            "registration/request-kept",
            () ->
                new Lie() {
                  @Override
                  RegionRequest request(LyingRegion region) {
                    RegionRequest asked = region.real().request();
                    return RegionRequest.host(asked.address(), asked.lengthBytes(), Access.ALL)
                        .withRequestedKey(asked.requestedKey());
                  }
                }),
        new Liar(
            "reaches regions through the domain's first endpoint only",
            "efa",
            "registration/every-endpoint",
            FirstEndpointOnly::new),
        new Liar("binds a region again", "cxi", "registration/bind-once", BindsAgain::new),
        new Liar("enables a region again", "cxi", "registration/enable-once", EnablesAgain::new),
        new Liar(
            "binds to another domain's endpoint",
            "cxi",
            "registration/bind-other-domain",
            BindsAnywhere::new),
        new Liar(
            "keeps the endpoint of a region that was closed before it was enabled",
            "cxi",
            "registration/close-unbound",
            () ->
                new Lie() {
                  @Override
                  void closeBound(LyingBoundRegion region) {
                    if (region.domain().endpoints.size() > 1) {
                      super.closeBound(region);
                    }
                  }
                }),
        new Liar(
            "reaches a region through every endpoint of its domain",
            "cxi",
            "registration/own-endpoint-only",
            AnyEndpoint::new),
        new Liar(
            "enables a region when it is bound",
            "cxi-client-key",
            "registration/enable-before-access",
            EnabledWhenBound::new),
        new Liar(
            "keeps closed regions open", "efa", "registration/closed-is-closed", StayingOpen::new),
        new Liar(
            "lets peers write what was registered for reads",
            "tcp",
            "registration/access",
            () ->
                new Lie() {
                  @Override
                  MemoryRegion register(LyingDomain domain, RegionRequest asked) {
                    boolean reads =
                        (asked.access() & Access.REMOTE_READ) != 0
                            && asked.kind() == MemoryKind.HOST;
                    return domain
                        .real()
                        .register(
                            reads ? wider(asked, asked.lengthBytes(), Access.REMOTE_WRITE) : asked);
                  }
                }),
        new Liar("registers a page too much", "efa", "registration/range", APageTooMuch::new));
  }

  private static RegionRequest wider(RegionRequest asked, long bytes, long more) {
    return RegionRequest.host(asked.address(), bytes, asked.access() | more)
        .withRequestedKey(asked.requestedKey());
  }

  private static final class AnyScope extends Lie {
    @Override
    MemoryRegion register(LyingDomain domain, RegionRequest request) {
      return domain.info().mrModes().contains(MrMode.ENDPOINT)
          ? new FakeRegion(request)
          : domain.real().register(request);
    }

    @Override
    UnboundRegion registerForEndpoint(LyingDomain domain, RegionRequest request) {
      return domain.info().mrModes().contains(MrMode.ENDPOINT)
          ? domain.real().registerForEndpoint(request)
          : new FakeRegion(request);
    }
  }

  private static final class Unmapped extends Lie {
    @Override
    MemoryRegion register(LyingDomain domain, RegionRequest request) {
      return request.address() == NEVER_MAPPED
          ? new FakeRegion(request)
          : domain.real().register(request);
    }
  }

  private static final class Leaking extends Lie {
    private static final int ROOM = 400;

    @Override
    MemoryRegion register(LyingDomain domain, RegionRequest request) {
      if (domain.regions.size() >= ROOM) {
        throw new FabricException("fi_mr_regattr", FabricErrno.ENOMEM, "", "a lying provider");
      }
      return domain.real().register(request);
    }
  }

  private static final class FirstEndpointOnly extends Lie {
    @Override
    int post(LyingEndpoint endpoint, Post post) {
      LyingEndpoint target = endpoint.peer(post.peer());
      boolean first = target == null || target.domain.endpoints.getFirst() == target;
      return endpoint.pass(
          post.kind() == Post.Kind.WRITE && !first
              ? post.withTarget(post.remoteAddress(), ~post.key())
              : post);
    }
  }

  private static final class BindsAgain extends Lie {
    private final Map<LyingUnboundRegion, Boolean> bound = new HashMap<>();

    @Override
    BoundRegion bind(LyingUnboundRegion region, Endpoint endpoint) {
      return bound.put(region, true) == null
          ? region.real().bind(endpoint)
          : new FakeRegion(region.request);
    }
  }

  private static final class EnablesAgain extends Lie {
    private final Map<LyingBoundRegion, Boolean> enabled = new HashMap<>();

    @Override
    MemoryRegion enable(LyingBoundRegion region) {
      return enabled.put(region, true) == null
          ? region.real().enable()
          : new FakeRegion(region.unbound.request);
    }
  }

  private static final class BindsAnywhere extends Lie {
    @Override
    BoundRegion bind(LyingUnboundRegion region, Endpoint endpoint) {
      return endpoint.domain().equals(region.domain.real())
          ? region.real().bind(endpoint)
          : new FakeRegion(region.request);
    }
  }

  private static final class AnyEndpoint extends Lie {
    @Override
    int post(LyingEndpoint endpoint, Post post) {
      LyingEndpoint target = endpoint.peer(post.peer());
      if (post.kind() != Post.Kind.WRITE || target == null) {
        return endpoint.pass(post);
      }
      for (int i = 0; i < endpoint.peers.peers.size(); i++) {
        LyingEndpoint other = endpoint.peers.peers.get(i);
        if (other != null
            && other.domain == target.domain
            && other.bound.stream().anyMatch(region -> hasKey(region, post.key()))) {
          return endpoint.pass(post.withPeer(i));
        }
      }
      return endpoint.pass(post);
    }

    private static boolean hasKey(LyingRegion region, long key) {
      return region.open && Access.isRemote(region.asked.access()) && region.key() == key;
    }
  }

  private static final class EnabledWhenBound extends Lie {
    private final Map<BoundRegion, MemoryRegion> early = new HashMap<>();

    @Override
    BoundRegion bind(LyingUnboundRegion region, Endpoint endpoint) {
      BoundRegion bound = region.real().bind(endpoint);
      early.put(bound, bound.enable());
      return bound;
    }

    @Override
    MemoryRegion enable(LyingBoundRegion region) {
      MemoryRegion enabled = early.remove(region.real());
      return enabled == null ? region.real().enable() : enabled;
    }

    @Override
    void closeBound(LyingBoundRegion region) {
      MemoryRegion enabled = early.remove(region.real());
      if (enabled != null) {
        enabled.close();
      }
    }
  }

  private static final class StayingOpen extends Lie {
    private final Map<LyingDomain, List<MemoryRegion>> left = new HashMap<>();

    @Override
    long key(LyingRegion region) {
      requireOpen(region);
      return super.key(region);
    }

    @Override
    long descriptor(LyingRegion region) {
      requireOpen(region);
      return super.descriptor(region);
    }

    private static void requireOpen(LyingRegion region) {
      if (!region.open) {
        throw new IllegalStateException("closed");
      }
    }

    @Override
    synchronized void closeRegion(LyingRegion region) {
      if (region.open && region.domain.endpoints.stream().anyMatch(endpoint -> endpoint.open)) {
        left.computeIfAbsent(region.domain, domain -> new ArrayList<>()).add(region.real());
      } else if (region.open) {
        region.real().close();
      }
    }

    @Override
    synchronized void close(AutoCloseable parent, Runnable real) {
      if (parent instanceof LyingDomain domain
          && domain.endpoints.stream().noneMatch(endpoint -> endpoint.open)) {
        left.getOrDefault(domain, List.of()).forEach(MemoryRegion::close);
      }
      real.run();
    }
  }

  private static final class APageTooMuch extends Lie {
    private static final int PAGE = 4096;

    @Override
    MemoryRegion register(LyingDomain domain, RegionRequest asked) {
      if (asked.lengthBytes() == PAGE && asked.access() == Access.REMOTE_WRITE) {
        try {
          return domain.real().register(wider(asked, 2 * PAGE, 0));
        } catch (IllegalArgumentException notMapped) {
          return domain.real().register(asked);
        }
      }
      return domain.real().register(asked);
    }
  }
}
