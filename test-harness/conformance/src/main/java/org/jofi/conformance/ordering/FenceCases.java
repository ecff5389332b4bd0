package org.jofi.conformance.ordering;

import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.rule.Need;
import org.jofi.fabric.Access;
import org.jofi.fabric.Capability;
import org.jofi.fabric.PostFlags;

/** Fences. */
public final class FenceCases {
  private static final int LARGE = 65_536;
  private static final int SMALL = 64;
  private static final int ROUNDS = 8;

  private FenceCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
                Area.ORDERING,
                "fence",
                "fi_rma(3), FI_FENCE: a fenced operation starts when all earlier ones to the peer"
                    + " are complete",
                FenceCases::fence)
            .needing(Need.capability(Capability.FENCE)));
  }

  private static void fence(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(LARGE + SMALL, Access.WRITE);
    Buffer target = pair.right().buffer(LARGE + SMALL, Access.REMOTE_WRITE);
    for (int round = 0; round < ROUNDS; round++) {
      long seed = 80L + round;
      source.fill(LARGE, seed);
      Bytes.fill(source.piece(LARGE, SMALL), ~seed);
      target.clear();
      int first =
          pair.left()
              .write(source, LARGE, pair.toRight(), target.target(), PostFlags.DELIVERY_COMPLETE);
      int fenced =
          pair.left()
              .write(
                  source,
                  LARGE,
                  SMALL,
                  pair.toRight(),
                  target.target().plus(LARGE),
                  PostFlags.FENCE | PostFlags.DELIVERY_COMPLETE);
      bench.awaitBytes(pair.right(), "the fenced write", target.piece(LARGE, SMALL), ~seed);
      long at = Bytes.mismatch(target.piece(0, LARGE), seed);
      Expect.that(
          at < 0,
          "the write before the fence to be complete when the one behind it is seen",
          "byte %d of %d is not there".formatted(at, LARGE));
      pair.left().success(first, "the write before the fence");
      pair.left().success(fenced, "the fenced write");
    }
  }
}
