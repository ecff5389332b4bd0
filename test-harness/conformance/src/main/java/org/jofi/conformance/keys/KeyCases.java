package org.jofi.conformance.keys;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.NotClaimedException;
import org.jofi.conformance.bench.Peer;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.rule.Need;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;

/** Keys of regions. */
public final class KeyCases {
  private static final int MANY = 64;

  private KeyCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        keys(
                "unique",
                "fi_mr(3), fi_mr_key: open regions of a domain have different keys",
                KeyCases::unique)
            .needing(Need.PROVIDER_KEYS),
        keys(
                "requested",
                "fi_mr(3), requested_key: without FI_MR_PROV_KEY a region has the key that was"
                    + " requested",
                KeyCases::requested)
            .needing(Need.APPLICATION_KEYS),
        keys(
                "duplicate",
                "fi_mr(3), requested_key: a key in use is refused with -FI_ENOKEY",
                KeyCases::duplicate)
            .needing(Need.APPLICATION_KEYS),
        keys(
                "reused",
                "fi_mr(3), requested_key: the key of a closed region may be requested again",
                KeyCases::reused)
            .needing(Need.APPLICATION_KEYS),
        keys(
                "too-wide",
                "fi_domain(3), mr_key_size: a key that does not fit is refused",
                KeyCases::tooWide)
            .needing(Need.APPLICATION_KEYS),
        keys(
            "none-without-access",
            "fi_mr(3), fi_mr_key: a region without remote access has no key to give away",
            KeyCases::noneWithoutAccess),
        keys(
            "stable",
            "fi_mr(3), fi_mr_key: a key is the region's from the first time it is told until the"
                + " region is closed",
            KeyCases::stable));
  }

  private static Case keys(String name, String rule, Case.Body body) {
    return Case.of(Area.KEYS, name, rule, body);
  }

  private static void unique(Bench bench) {
    Peer side = bench.open("side");
    Set<Long> keys = new HashSet<>();
    for (int i = 0; i < MANY; i++) {
      long key = side.buffer(4096, Access.REMOTE_WRITE).region().key();
      Expect.that(
          keys.add(key),
          "%d open regions to have %d keys".formatted(MANY, MANY),
          "region %d has the key 0x%x of an earlier one".formatted(i, key));
    }
  }

  private static void requested(Bench bench) {
    Peer side = bench.open("side");
    for (long key : new long[] {1, 17, 0xFFFF, 0x7FFF_FFFF}) {
      RegionRequest request =
          RegionRequest.host(bench.allocate(4096), Access.REMOTE_READ).withRequestedKey(key);
      Expect.same("the key", key, side.registerAs(request).key());
    }
  }

  private static void duplicate(Bench bench) {
    Peer side = bench.open("side");
    RegionRequest request =
        RegionRequest.host(bench.allocate(4096), Access.REMOTE_READ)
            .withRequestedKey(bench.freshKey());
    side.registerAs(request);
    Expect.refusedWith(
        "a second region with key %d".formatted(request.requestedKey()),
        () -> side.registerAs(request),
        FabricErrno.ENOKEY);
  }

  private static void reused(Bench bench) {
    Peer side = bench.open("side");
    RegionRequest request =
        RegionRequest.host(bench.allocate(4096), Access.REMOTE_READ)
            .withRequestedKey(bench.freshKey());
    for (int i = 0; i < 3; i++) {
      try (MemoryRegion region = side.registerAs(request)) {
        Expect.same("the key", request.requestedKey(), region.key());
      }
    }
  }

  private static void tooWide(Bench bench) {
    int bytes = bench.info().limits().mrKeyBytes();
    if (bytes >= Long.BYTES) {
      throw new NotClaimedException("takes every key: mr_key_size is " + bytes);
    }
    Peer side = bench.open("side");
    RegionRequest request =
        RegionRequest.host(bench.allocate(4096), Access.REMOTE_READ)
            .withRequestedKey(1L << (8 * bytes));
    Expect.refusedWith(
        "key 0x%x, of more than %d bytes".formatted(request.requestedKey(), bytes),
        () -> side.registerAs(request),
        FabricErrno.EKEYREJECTED,
        FabricErrno.EINVAL);
  }

  private static void noneWithoutAccess(Bench bench) {
    Peer side = bench.open("side");
    MemoryRegion region = side.buffer(4096, Access.SEND | Access.RECV).region();
    Expect.refused(
        "telling the key of a region for sends and receives",
        region::key,
        IllegalStateException.class,
        FabricException.class);
  }

  private static void stable(Bench bench) {
    Peer side = bench.open("side");
    MemoryRegion region = side.buffer(4096, Access.REMOTE_WRITE).region();
    long key = region.key();
    for (int i = 0; i < MANY; i++) {
      side.buffer(4096, Access.REMOTE_WRITE);
      Expect.same("the first region's key", key, region.key());
    }
  }
}
