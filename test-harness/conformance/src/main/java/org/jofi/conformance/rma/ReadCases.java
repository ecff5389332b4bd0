package org.jofi.conformance.rma;

import java.time.Duration;
import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;

/** One-sided reads. */
public final class ReadCases {
  private static final int[] SIZES = {1, 63, 64, 65, 4096, 65_536, 1 << 20};
  private static final int MOST = SIZES[SIZES.length - 1];
  private static final int GUARD = 64;

  private ReadCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
                Area.RMA,
                "read",
                "fi_rma(3), fi_read; fi_endpoint(3), completion levels: when a read completes, the"
                    + " peer's bytes are here",
                ReadCases::read)
            .within(Duration.ofSeconds(40)),
        Case.of(
            Area.RMA,
            "read-bounds",
            "fi_rma(3), fi_read: a read changes no byte but those named",
            ReadCases::readBounds),
        Case.of(
            Area.RMA,
            "read-leaves-target",
            "fi_rma(3), fi_read: a read does not change what it reads, nor tell its owner",
            ReadCases::readLeavesTarget));
  }

  private static void read(Bench bench) {
    Pair pair = bench.pair();
    Buffer into = pair.left().buffer(MOST, Access.READ);
    Buffer from = pair.right().buffer(MOST, Access.REMOTE_READ);
    for (int size : SIZES) {
      from.fill(size, size + 30);
      into.clear();
      int slot = pair.left().read(into, size, pair.toRight(), from.target());
      pair.left().success(slot, "a read of %d bytes".formatted(size));
      long at = Bytes.mismatch(into.piece(0, size), size + 30);
      Expect.that(
          at < 0,
          "all %d bytes here when the read completes".formatted(size),
          "byte %d is not".formatted(at));
    }
  }

  private static void readBounds(Bench bench) {
    Pair pair = bench.pair();
    Buffer into = pair.left().buffer(MOST + GUARD, Access.READ);
    Buffer from = pair.right().buffer(MOST, Access.REMOTE_READ);
    for (int size : SIZES) {
      into.clear();
      int slot = pair.left().read(into, size, pair.toRight(), from.target());
      pair.left().success(slot, "a read of %d bytes".formatted(size));
      bench.watch(java.time.Duration.ofMillis(2));
      long at = Bytes.touched(into.piece(size, GUARD));
      Expect.that(
          at < 0,
          "a read of %d bytes to change no more".formatted(size),
          "byte %d behind it changed".formatted(at));
    }
  }

  private static void readLeavesTarget(Bench bench) {
    Pair pair = bench.pair();
    Buffer into = pair.left().buffer(65_536, Access.READ);
    Buffer from = pair.right().buffer(65_536, Access.REMOTE_READ);
    from.fill(65_536, 31);
    int before = pair.right().completions().size();
    int slot = pair.left().read(into, 65_536, pair.toRight(), from.target());
    pair.left().success(slot, "a read");
    bench.watch();
    Expect.that(Bytes.match(from.memory(), 31), "what is read to stay as it is", "it was changed");
    Expect.that(
        pair.right().completions().size() == before,
        "no completion at the side that is read from",
        "it has " + pair.right().completions());
  }
}
