package org.jofi.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jofi.transport.Failure;
import org.jofi.transport.RailStatus;

/**
 * What a rail carried of a run.
 *
 * @param nic its NIC
 * @param share of all bytes, 0 to 1
 * @param bytesPerSecond how fast it was; 0 if that was not measured
 * @param state whether it is used
 * @param cause why it is not; empty if it is
 */
record RailLoad(
    String nic, double share, long bytesPerSecond, RailStatus.State state, String cause) {

  /** Of each rail. */
  static List<RailLoad> of(List<RailStatus> rails, boolean reads) {
    long all = rails.stream().mapToLong(rail -> traffic(rail, reads).bytes()).sum();
    return rails.stream()
        .map(
            rail ->
                new RailLoad(
                    rail.nic(),
                    all == 0 ? 0 : (double) traffic(rail, reads).bytes() / all,
                    traffic(rail, reads).bytesPerSecond(),
                    rail.state(),
                    rail.cause().map(Failure::toString).orElse("")))
        .toList();
  }

  private static RailStatus.Traffic traffic(RailStatus rail, boolean reads) {
    return reads ? rail.read() : rail.written();
  }

  Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("nic", nic);
    fields.put("share", share);
    fields.put("bytesPerSecond", bytesPerSecond);
    fields.put("state", state.name().toLowerCase(Locale.ROOT));
    fields.put("cause", cause);
    return fields;
  }

  @Override
  public String toString() {
    String rate =
        bytesPerSecond == 0
            ? "not measured"
            : String.format(Locale.ROOT, "%.2f GB/s as measured", bytesPerSecond / 1e9);
    return String.format(
        Locale.ROOT,
        "rail %s: %.1f %% of the bytes, %s%s",
        nic,
        100 * share,
        rate,
        cause.isEmpty() ? "" : "; " + state.name().toLowerCase(Locale.ROOT) + ": " + cause);
  }
}
