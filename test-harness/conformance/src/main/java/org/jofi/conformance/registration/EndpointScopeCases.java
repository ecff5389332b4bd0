package org.jofi.conformance.registration;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.bench.Peer;
import org.jofi.conformance.bench.Target;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.rule.Need;
import org.jofi.fabric.Access;
import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.PostFlags;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.UnboundRegion;

/** Registrations that belong to an endpoint. */
public final class EndpointScopeCases {
  private static final int BYTES = 4096;

  private EndpointScopeCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        scoped(
            "bind-enable",
            "fi_mr(3), FI_MR_ENDPOINT: bound to an endpoint and enabled, a region is usable",
            EndpointScopeCases::bindEnable),
        scoped(
            "bind-once",
            "fi_mr(3), fi_mr_bind: a region is bound to exactly one endpoint",
            EndpointScopeCases::bindOnce),
        scoped(
            "enable-once",
            "fi_mr(3), fi_mr_enable: what was enabled is no longer to be enabled",
            EndpointScopeCases::enableOnce),
        scoped(
            "bind-other-domain",
            "fi_mr(3), fi_mr_bind: region and endpoint are of one domain",
            EndpointScopeCases::bindOtherDomain),
        scoped(
            "close-unbound",
            "fi_mr(3), fi_close: a region closes in every state, and its endpoint is free then",
            EndpointScopeCases::closeUnbound),
        scoped(
            "own-endpoint-only",
            "fi_mr(3), FI_MR_ENDPOINT: a region is reached through the endpoint that it is bound"
                + " to, and no other",
            EndpointScopeCases::ownEndpointOnly),
        scoped(
                "enable-before-access",
                "fi_mr(3), fi_mr_enable: a region is not accessible before it is enabled",
                EndpointScopeCases::enableBeforeAccess)
            .needing(Need.ENDPOINT_SCOPE.and(Need.APPLICATION_KEYS)));
  }

  private static Case scoped(String name, String rule, Case.Body body) {
    return Case.of(Area.REGISTRATION, name, rule, body).needing(Need.ENDPOINT_SCOPE);
  }

  private static UnboundRegion unbound(Bench bench, Peer side) {
    return side.domain()
        .registerForEndpoint(
            RegionRequest.host(bench.allocate(BYTES), Access.ALL)
                .withRequestedKey(bench.freshKey()));
  }

  private static void bindEnable(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(BYTES, Access.WRITE);
    source.fill(BYTES, 3);
    Buffer target = pair.right().buffer(BYTES, Access.REMOTE_WRITE);
    int slot =
        pair.left()
            .write(source, BYTES, pair.toRight(), target.target(), PostFlags.DELIVERY_COMPLETE);
    pair.left().success(slot, "a write to a region just enabled");
    bench.awaitBytes(pair.right(), "the write", target.memory(), 3);
  }

  private static void bindOnce(Bench bench) {
    Peer side = bench.open("side");
    Peer second = bench.beside(side, "second endpoint");
    UnboundRegion unbound = unbound(bench, side);
    try (BoundRegion bound = unbound.bind(side.endpoint())) {
      Expect.refused(
          "binding %s to a second endpoint".formatted(bound),
          () -> unbound.bind(second.endpoint()).close(),
          IllegalStateException.class,
          FabricException.class);
      Expect.refused(
          "binding it to the same endpoint again",
          () -> unbound.bind(side.endpoint()).close(),
          IllegalStateException.class,
          FabricException.class);
    }
  }

  private static void enableOnce(Bench bench) {
    Peer side = bench.open("side");
    BoundRegion bound = unbound(bench, side).bind(side.endpoint());
    try (MemoryRegion region = bound.enable()) {
      Expect.refused(
          "enabling %s again".formatted(region.request()),
          () -> bound.enable().close(),
          IllegalStateException.class,
          FabricException.class);
    }
  }

  private static void bindOtherDomain(Bench bench) {
    Peer side = bench.open("side");
    Peer stranger = bench.open("another domain's side");
    try (UnboundRegion unbound = unbound(bench, side)) {
      Expect.refused(
          "binding to an endpoint of another domain",
          () -> unbound.bind(stranger.endpoint()).close(),
          IllegalArgumentException.class,
          FabricException.class);
    }
  }

  private static void closeUnbound(Bench bench) {
    Peer side = bench.open("side");
    unbound(bench, side).close();
    unbound(bench, side).bind(side.endpoint()).close();
    unbound(bench, side).bind(side.endpoint()).enable().close();
    bench.leave(side);
    side.endpoint().close();
    side.queue().close();
    side.peers().close();
    side.domain().close();
    side.fabric().close();
  }

  private static void ownEndpointOnly(Bench bench) {
    Pair pair = bench.pair();
    Peer second = bench.beside(pair.right(), "right, second endpoint");
    Pair other = bench.connect(pair.left(), second);
    Buffer source = pair.left().buffer(BYTES, Access.WRITE);
    source.fill(BYTES, 4);
    Buffer target = pair.right().buffer(BYTES, Access.REMOTE_WRITE);
    target.clear();
    int slot =
        pair.left()
            .write(source, BYTES, other.toRight(), target.target(), PostFlags.DELIVERY_COMPLETE);
    Protection.nothingLands(
        bench, pair.left(), slot, target, "a write through an endpoint that it is not bound to");
  }

  private static void enableBeforeAccess(Bench bench) {
    Pair pair = bench.pair();
    Peer right = pair.right();
    Buffer source = pair.left().buffer(BYTES, Access.WRITE);
    source.fill(BYTES, 5);
    long key = bench.freshKey();
    MemorySegment memory = bench.allocate(BYTES);
    Bytes.clear(memory);
    try (BoundRegion bound =
        right
            .domain()
            .registerForEndpoint(
                RegionRequest.host(memory, Access.REMOTE_WRITE).withRequestedKey(key))
            .bind(right.endpoint())) {
      int slot =
          pair.left()
              .write(
                  source, BYTES, pair.toRight(), new Target(0, key), PostFlags.DELIVERY_COMPLETE);
      Protection.nothingLands(
          bench, pair.left(), slot, memory, "a write to %s, not enabled".formatted(bound));
    }
  }
}
