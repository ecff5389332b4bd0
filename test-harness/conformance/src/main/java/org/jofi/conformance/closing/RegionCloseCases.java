package org.jofi.conformance.closing;

import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Peer;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.rule.Need;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;

/** When regions close. */
public final class RegionCloseCases {
  private RegionCloseCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
                Area.CLOSING,
                "endpoint-before-its-regions",
                "fi_mr(3), FI_MR_ENDPOINT; fi_close: an endpoint that regions are bound to does not"
                    + " close: -FI_EBUSY",
                RegionCloseCases::endpointBeforeItsRegions)
            .needing(Need.ENDPOINT_SCOPE),
        Case.of(
                Area.CLOSING,
                "region-after-endpoint",
                "fi_mr(3), fi_close: a region of a domain closes after the endpoints that used it",
                RegionCloseCases::regionAfterEndpoint)
            .needing(Need.DOMAIN_SCOPE),
        Case.of(
            Area.CLOSING,
            "region-twice",
            "fi_mr(3), fi_close: closing a region again does nothing",
            RegionCloseCases::regionTwice),
        Case.of(
            Area.CLOSING,
            "region-use-after-close",
            "fi_mr(3), fi_close: a closed region has neither key nor descriptor",
            RegionCloseCases::regionUseAfterClose));
  }

  private static void endpointBeforeItsRegions(Bench bench) {
    Peer side = bench.open("side");
    Buffer buffer = side.buffer(4096, Access.RECV);
    Expect.refusedWith(
        "closing the endpoint with %s bound to it".formatted(buffer.region().request()),
        () -> side.endpoint().close(),
        FabricErrno.EBUSY);
  }

  private static void regionAfterEndpoint(Bench bench) {
    Peer side = bench.open("side");
    Buffer buffer = side.buffer(4096, Access.ALL);
    side.endpoint().close();
    buffer.region().close();
  }

  private static void regionTwice(Bench bench) {
    Peer side = bench.open("side");
    Buffer buffer = side.buffer(4096, Access.ALL);
    buffer.region().close();
    buffer.region().close();
  }

  private static void regionUseAfterClose(Bench bench) {
    Peer side = bench.open("side");
    Buffer buffer = side.buffer(4096, Access.ALL);
    buffer.region().close();
    Expect.refused(
        "the key of a closed region",
        () -> buffer.region().key(),
        IllegalStateException.class,
        FabricException.class);
    Expect.refused(
        "the descriptor of a closed region",
        () -> buffer.region().descriptor(),
        IllegalStateException.class,
        FabricException.class);
  }
}
