package org.jofi.conformance.registration;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.bench.Target;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.PostFlags;
import org.jofi.fabric.RegionRequest;

/** What a registration keeps peers from. */
public final class ProtectionCases {
  private static final int BYTES = 4096;

  private ProtectionCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
                Area.REGISTRATION,
                "closed-is-closed",
                "fi_mr(3), fi_close: memory is not accessible by peers once its registration is"
                    + " closed",
                ProtectionCases::closedIsClosed)
            .alone(),
        Case.of(
                Area.REGISTRATION,
                "access",
                "fi_mr(3), access: peers write only to what was registered with FI_REMOTE_WRITE",
                ProtectionCases::access)
            .alone(),
        Case.of(
                Area.REGISTRATION,
                "range",
                "fi_mr(3), mr_iov: peers reach no byte outside of the registered range",
                ProtectionCases::range)
            .alone());
  }

  private static void closedIsClosed(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(BYTES, Access.WRITE);
    source.fill(BYTES, 6);
    Buffer target = pair.right().buffer(BYTES, Access.REMOTE_WRITE);
    Target place = target.target();
    int first =
        pair.left().write(source, BYTES, pair.toRight(), place, PostFlags.DELIVERY_COMPLETE);
    pair.left().success(first, "a write while the region is open");
    bench.awaitBytes(pair.right(), "that write", target.memory(), 6);
    target.region().close();
    target.clear();
    int slot = pair.left().write(source, BYTES, pair.toRight(), place, PostFlags.DELIVERY_COMPLETE);
    Protection.nothingLands(bench, pair.left(), slot, target, "a write to a closed region");
  }

  private static void access(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(BYTES, Access.WRITE);
    source.fill(BYTES, 7);
    Buffer target = pair.right().buffer(BYTES, Access.REMOTE_READ);
    target.clear();
    int slot =
        pair.left()
            .write(source, BYTES, pair.toRight(), target.target(), PostFlags.DELIVERY_COMPLETE);
    Protection.nothingLands(bench, pair.left(), slot, target, "a write to a region for reads only");
  }

  private static void range(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(BYTES, Access.WRITE);
    source.fill(BYTES, 8);
    MemorySegment memory = bench.allocate(2 * BYTES);
    Bytes.clear(memory);
    MemoryRegion region =
        pair.right().register(RegionRequest.host(memory.asSlice(0, BYTES), Access.REMOTE_WRITE));
    Buffer half = new Buffer(pair.right(), memory, region);
    int slot =
        pair.left()
            .write(
                source,
                BYTES,
                pair.toRight(),
                half.target().plus(BYTES),
                PostFlags.DELIVERY_COMPLETE);
    Protection.nothingLands(
        bench, pair.left(), slot, memory, "a write to the page behind the region");
  }
}
