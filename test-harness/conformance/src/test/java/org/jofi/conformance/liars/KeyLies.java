package org.jofi.conformance.liars;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;

/** Lies of keys and addresses. */
final class KeyLies {
  private KeyLies() {}

  static List<Liar> all() {
    return List.of(
        new Liar(
            "gives the same key twice",
            "efa",
            "keys/unique",
            () ->
                new Lie() {
                  @Override
                  long key(LyingRegion region) {
                    List<LyingRegion> all = region.domain.regions;
                    return all.size() > 40 && all.getLast() == region
                        ? all.getFirst().real().key()
                        : super.key(region);
                  }
                }),
        new Liar(
            "keeps 16 bits of a key",
            "tcp",
            "keys/requested",
            () ->
                new Lie() {
                  @Override
                  long key(LyingRegion region) {
                    return super.key(region) & 0xFFFF;
                  }
                }),
        new Liar("takes a key twice", "tcp", "keys/duplicate", TakesKeysTwice::new),
        new Liar("never takes a key again", "tcp", "keys/reused", NeverAgain::new),
        new Liar(
            "cuts keys that are too wide",
            "cxi-client-key",
            "keys/too-wide",
            () ->
                new Lie() {
                  @Override
                  org.jofi.fabric.UnboundRegion registerForEndpoint(
                      LyingDomain domain, RegionRequest request) {
                    return domain
                        .real()
                        .registerForEndpoint(
                            request.withRequestedKey(request.requestedKey() & 0xFFFF_FFFFL));
                  }
                }),
        new Liar(
            "gives keys of regions without remote access",
            "cxi",
            "keys/none-without-access",
            () ->
                new Lie() {
                  @Override
                  long key(LyingRegion region) {
                    return Access.isRemote(region.asked.access()) ? super.key(region) : 0;
                  }
                }),
        new Liar(
            "changes the key of a region",
            "efa",
            "keys/stable",
            () ->
                new Lie() {
                  @Override
                  long key(LyingRegion region) {
                    List<LyingRegion> all = region.domain.regions;
                    boolean old = all.size() > 30 && all.getFirst() == region;
                    return super.key(region) + (old ? 1 : 0);
                  }
                }),
        new Liar(
            "aligns remote addresses",
            "tcp",
            "keys/byte-addresses",
            () ->
                new Lie() {
                  @Override
                  int post(LyingEndpoint endpoint, Post post) {
                    return endpoint.pass(post.withTarget(post.remoteAddress() & ~63L, post.key()));
                  }
                }),
        new Liar(
            "mistakes small regions of the same size",
            "tcp",
            "keys/several-regions",
            FirstOfTheSize::new));
  }

  private static final class TakesKeysTwice extends Lie {
    @Override
    MemoryRegion register(LyingDomain domain, RegionRequest request) {
      try {
        return domain.real().register(request);
      } catch (FabricException refused) {
        if (refused.errno() == FabricErrno.ENOKEY) {
          return new FakeRegion(request);
        }
        throw refused;
      }
    }
  }

  private static final class NeverAgain extends Lie {
    private final Set<String> used = new HashSet<>();

    @Override
    synchronized MemoryRegion register(LyingDomain domain, RegionRequest request) {
      if (!used.add(System.identityHashCode(domain) + " " + request.requestedKey())) {
        throw new FabricException("fi_mr_regattr", FabricErrno.ENOKEY, "", "a lying provider");
      }
      return domain.real().register(request);
    }
  }

  private static final class FirstOfTheSize extends Lie {
    private static final int SMALL = 128;

    @Override
    int post(LyingEndpoint endpoint, Post post) {
      LyingEndpoint target = endpoint.peer(post.peer());
      if (post.kind() != Post.Kind.WRITE || target == null || post.bytes() >= SMALL) {
        return endpoint.pass(post);
      }
      for (LyingRegion region : target.domain.regions) {
        if (region.open
            && region.asked.lengthBytes() == post.bytes()
            && region.asked.access() == Access.REMOTE_WRITE) {
          return endpoint.pass(post.withTarget(post.remoteAddress(), region.real().key()));
        }
      }
      return endpoint.pass(post);
    }
  }
}
