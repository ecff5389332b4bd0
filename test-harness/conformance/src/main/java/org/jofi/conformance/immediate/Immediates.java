package org.jofi.conformance.immediate;

import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Completion;
import org.jofi.conformance.bench.Peer;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.rule.Need;
import org.jofi.fabric.FabricInfo;

/** What cases of immediate data have in common. */
final class Immediates {
  private static final Need CQ_DATA =
      new Need(
          hints -> hints,
          info ->
              info.limits().cqDataBytes() > 0
                  ? java.util.Optional.empty()
                  : java.util.Optional.of("has no immediate data: cq_data_size is 0"),
          "");

  private Immediates() {}

  static Case of(String name, String rule, Case.Body body) {
    return Case.of(Area.IMMEDIATE, name, rule, body).needing(CQ_DATA);
  }

  /** The bits of immediate data that arrive. */
  static long mask(FabricInfo info) {
    int bytes = info.limits().cqDataBytes();
    return bytes >= Long.BYTES ? -1L : (1L << (8 * bytes)) - 1;
  }

  /** Waits for arrival number {@code index} of a side. */
  static Completion arrival(Bench bench, Peer side, int index) {
    bench.await(
        side,
        "the immediate data to arrive at " + side.label(),
        () -> side.completions().arrivals().size() > index);
    return side.completions().arrivals().get(index);
  }
}
