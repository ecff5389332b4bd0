package org.jofi.conformance.keys;

import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;
import org.jofi.fabric.PostFlags;

/** How peers name the bytes of a region. */
public final class AddressingCases {
  private static final int REGION_BYTES = 16_384;
  private static final int BYTES = 100;

  private AddressingCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
            Area.KEYS,
            "byte-addresses",
            "fi_mr(3), FI_MR_VIRT_ADDR: an address, virtual or an offset as negotiated, names a"
                + " byte of the region, whatever its alignment",
            AddressingCases::byteAddresses),
        Case.of(
            Area.KEYS,
            "several-regions",
            "fi_rma(3), fi_write: of two regions, the one whose key is given is written",
            AddressingCases::severalRegions));
  }

  private static void byteAddresses(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(REGION_BYTES, Access.WRITE);
    Buffer target = pair.right().buffer(REGION_BYTES, Access.REMOTE_WRITE);
    source.fill(BYTES, 9);
    for (int offset : new int[] {0, 1, 63, 64, 4095, 4097, REGION_BYTES - BYTES}) {
      target.clear();
      int slot =
          pair.left()
              .write(
                  source,
                  BYTES,
                  pair.toRight(),
                  target.target().plus(offset),
                  PostFlags.DELIVERY_COMPLETE);
      pair.left().success(slot, "a write at byte %d of the region".formatted(offset));
      bench.awaitBytes(pair.right(), "a write at byte " + offset, target.piece(offset, BYTES), 9);
      untouched(target, 0, offset);
      untouched(target, offset + BYTES, REGION_BYTES - offset - BYTES);
    }
  }

  private static void severalRegions(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(BYTES, Access.WRITE);
    source.fill(BYTES, 10);
    Buffer first = pair.right().buffer(BYTES, Access.REMOTE_WRITE);
    Buffer second = pair.right().buffer(BYTES, Access.REMOTE_WRITE);
    first.clear();
    second.clear();
    int slot =
        pair.left()
            .write(source, BYTES, pair.toRight(), second.target(), PostFlags.DELIVERY_COMPLETE);
    pair.left().success(slot, "a write to the second region");
    bench.awaitBytes(pair.right(), "the write to the second region", second.memory(), 10);
    untouched(first, 0, BYTES);
  }

  private static void untouched(Buffer buffer, long from, long bytes) {
    long at = Bytes.touched(buffer.piece(from, bytes));
    Expect.that(
        at < 0,
        "no byte but those named to be written",
        "byte %d of the region was written".formatted(from + at));
  }
}
