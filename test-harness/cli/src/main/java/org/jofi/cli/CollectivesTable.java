package org.jofi.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jofi.cli.collectives.CollectivesRow;
import org.jofi.cli.collectives.Names;
import org.jofi.collectives.Reduction;
import org.jspecify.annotations.Nullable;

/** The rows of {@code jofi collectives}, as text and as fields of its document. */
final class CollectivesTable {
  private static final String HEADER = "%-14s %12s %12s %5s %8s %5s %12s %12s %10s %10s %8s  %s%n";
  private static final String ROW =
      "%-14s %12d %12d %5s %8s %5d %12.1f %12.1f %10.3f %10.3f %8d  %s%n";

  private CollectivesTable() {}

  static void printHeader(RankReport report) {
    report.text(
        HEADER,
        "OPERATION",
        "SIZE B",
        "COUNT",
        "TYPE",
        "REDOP",
        "ROOT",
        "TIME us",
        "BEST us",
        "ALGBW GB/s",
        "BUSBW GB/s",
        "ERRORS",
        "ALGORITHM");
  }

  private static int root(CollectivesRow row) {
    return row.collective().operation().hasRoot() ? row.collective().operation().root() : -1;
  }

  private static @Nullable String reduction(CollectivesRow row) {
    @Nullable Reduction reduction = row.collective().reduction();
    return reduction == null ? null : reduction.name();
  }

  static void print(RankReport report, CollectivesRow row) {
    report.text(
        ROW,
        row.operation(),
        row.bytes(),
        row.elements(),
        Names.of(row.collective().type()),
        Objects.requireNonNullElse(reduction(row), "none"),
        root(row),
        row.medianNanos() / 1e3,
        row.bestNanos() / 1e3,
        row.algorithmBytesPerSecond() / 1e9,
        row.busBytesPerSecond() / 1e9,
        row.wrong(),
        row.algorithm());
  }

  static Map<String, Object> fields(CollectivesRow row) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("operation", row.operation().toString());
    fields.put("bytes", row.bytes());
    fields.put("elements", row.elements());
    fields.put("type", Names.of(row.collective().type()));
    fields.put("reduction", reduction(row));
    fields.put("root", root(row) < 0 ? null : root(row));
    fields.put("algorithm", row.algorithm());
    fields.put("algorithmBecause", row.reason());
    fields.put("iterations", row.iterations());
    fields.put("medianNanos", row.medianNanos());
    fields.put("bestNanos", row.bestNanos());
    fields.put("algorithmBytesPerSecond", row.algorithmBytesPerSecond());
    fields.put("busBytesPerSecond", row.busBytesPerSecond());
    fields.put("errors", row.wrong());
    return fields;
  }
}
