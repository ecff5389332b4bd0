package org.jofi.conformance.registration;

import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.bench.Peer;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.rule.Need;
import org.jofi.fabric.Access;
import org.jofi.fabric.PostFlags;

/** Registrations that belong to a domain. */
public final class DomainScopeCases {
  private static final int BYTES = 4096;

  private DomainScopeCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
                Area.REGISTRATION,
                "usable-at-once",
                "fi_mr(3), fi_mr_regattr: without FI_MR_ENDPOINT a region is usable when the call"
                    + " returns",
                DomainScopeCases::usableAtOnce)
            .needing(Need.DOMAIN_SCOPE),
        Case.of(
                Area.REGISTRATION,
                "every-endpoint",
                "fi_mr(3): a region that is bound to no endpoint is reached through every endpoint"
                    + " of its domain",
                DomainScopeCases::everyEndpoint)
            .needing(Need.DOMAIN_SCOPE));
  }

  private static void usableAtOnce(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(BYTES, Access.WRITE);
    source.fill(BYTES, 1);
    Buffer target = pair.right().buffer(BYTES, Access.REMOTE_WRITE);
    int slot =
        pair.left()
            .write(source, BYTES, pair.toRight(), target.target(), PostFlags.DELIVERY_COMPLETE);
    pair.left().success(slot, "a write to a region just registered");
    bench.awaitBytes(pair.right(), "the write", target.memory(), 1);
  }

  private static void everyEndpoint(Bench bench) {
    Pair pair = bench.pair();
    Peer second = bench.beside(pair.right(), "right, second endpoint");
    Pair other = bench.connect(pair.left(), second);
    Buffer source = pair.left().buffer(BYTES, Access.WRITE);
    source.fill(BYTES, 2);
    Buffer target = pair.right().buffer(BYTES, Access.REMOTE_WRITE);
    int slot =
        pair.left()
            .write(source, BYTES, other.toRight(), target.target(), PostFlags.DELIVERY_COMPLETE);
    pair.left().success(slot, "a write through another endpoint of the region's domain");
    bench.awaitBytes(second, "the write", target.memory(), 2);
  }
}
