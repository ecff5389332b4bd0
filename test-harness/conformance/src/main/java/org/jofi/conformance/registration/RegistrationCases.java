package org.jofi.conformance.registration;

import java.util.ArrayList;
import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Peer;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.RegistrationScope;

/** Registrations in either scope. */
public final class RegistrationCases {
  /** Below the lowest address that Linux lets a program map. */
  private static final long NEVER_MAPPED = 0x1000;

  private static final int MANY = 64;
  private static final int ROUNDS = 10;

  private RegistrationCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
            Area.REGISTRATION,
            "scope",
            "fi_mr(3), FI_MR_ENDPOINT: a region is bound and enabled if and only if the mode was"
                + " negotiated",
            RegistrationCases::scope),
        Case.of(
            Area.REGISTRATION,
            "unmapped",
            "fi_mr(3), FI_MR_ALLOCATED: memory must exist when it is registered",
            RegistrationCases::unmapped),
        Case.of(
            Area.REGISTRATION,
            "closed-regions-return",
            "fi_mr(3), fi_close: a closed registration gives back what it took",
            RegistrationCases::closedRegionsReturn),
        Case.of(
            Area.REGISTRATION,
            "request-kept",
            "fi_mr(3), struct fi_mr_attr: a region is of the range and access that were asked for",
            RegistrationCases::requestKept));
  }

  private static void scope(Bench bench) {
    Peer side = bench.open("side");
    RegionRequest request =
        RegionRequest.host(bench.allocate(4096), Access.ALL).withRequestedKey(bench.freshKey());
    if (bench.info().registrationScope() == RegistrationScope.DOMAIN) {
      Expect.refused(
          "registration for an endpoint, which was not negotiated",
          () -> side.domain().registerForEndpoint(request).close(),
          IllegalStateException.class,
          FabricException.class);
    } else {
      Expect.refused(
          "registration without an endpoint, though FI_MR_ENDPOINT was negotiated",
          () -> side.domain().register(request).close(),
          IllegalStateException.class,
          FabricException.class);
    }
  }

  private static void unmapped(Bench bench) {
    Peer side = bench.open("side");
    RegionRequest request = RegionRequest.host(NEVER_MAPPED, 4096, Access.ALL);
    Expect.refused(
        "registration of an address where nothing is mapped",
        () -> side.register(request).close(),
        IllegalArgumentException.class,
        FabricException.class);
  }

  private static void closedRegionsReturn(Bench bench) {
    Peer side = bench.open("side");
    RegionRequest request = RegionRequest.host(bench.allocate(4096), Access.ALL);
    for (int round = 0; round < ROUNDS; round++) {
      List<MemoryRegion> regions = new ArrayList<>();
      for (int i = 0; i < MANY; i++) {
        regions.add(side.register(request));
      }
      regions.forEach(MemoryRegion::close);
    }
  }

  private static void requestKept(Bench bench) {
    Peer side = bench.open("side");
    RegionRequest request =
        RegionRequest.host(bench.allocate(8192), Access.SEND | Access.RECV)
            .withRequestedKey(bench.freshKey());
    RegionRequest kept = side.registerAs(request).request();
    Expect.that(kept.equals(request), request.toString(), kept.toString());
  }
}
