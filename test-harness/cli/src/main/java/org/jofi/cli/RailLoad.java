package org.jofi.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jofi.transport.Failure;
import org.jofi.transport.RailStatus;
import org.jspecify.annotations.Nullable;

/**
 * What a rail carried of a run.
 *
 * @param nic its NIC
 * @param share of all bytes, 0 to 1
 * @param bytesPerSecond how fast it was; 0 if that was not measured
 * @param lostBy why it was given up, or is given nothing new; null if it is in use
 */
record RailLoad(String nic, double share, long bytesPerSecond, @Nullable Failure lostBy) {

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
                    rail.lostBy().orElse(null)))
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
    fields.put("lostBy", lostBy == null ? "" : lostBy.toString());
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
        lostBy == null ? "" : "; not used any more: " + lostBy);
  }
}
