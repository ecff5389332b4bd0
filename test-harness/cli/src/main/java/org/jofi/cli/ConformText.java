package org.jofi.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jofi.conformance.Area;
import org.jofi.conformance.Case;
import org.jofi.conformance.KnownFailure;
import org.jofi.conformance.Report;
import org.jofi.conformance.Result;
import org.jofi.conformance.Verdict;

/** What {@code jofi conform} prints. */
final class ConformText {
  private ConformText() {}

  /** The cases with their rules. */
  static void list(PrintWriter out, List<Case> cases, boolean json) {
    if (json) {
      List<Map<String, Object>> all = new ArrayList<>();
      for (Case kase : cases) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("id", kase.id());
        fields.put("area", kase.area().slug());
        fields.put("rule", kase.rule());
        all.add(fields);
      }
      out.println(Json.pretty(all));
      return;
    }
    TextTable table = new TextTable("case", "rule");
    cases.forEach(kase -> table.row(kase.id(), kase.rule()));
    table.print(out);
  }

  /** Prints a table by area, the failures, and the cases that are not claimed. */
  static void print(PrintWriter out, Report report) {
    Report.Description examined = report.description();
    out.printf("%s, %s (%s)%n", examined.subject(), examined.source(), examined.nic());
    out.printf("%s%n%n", examined.claims());
    TextTable table = new TextTable("area", "passed", "failed", "not claimed");
    for (Map.Entry<Area, Report.Count> area : report.byArea().entrySet()) {
      row(table, area.getKey().title(), area.getValue());
    }
    row(table, "all", report.total());
    table.print(out);
    for (Result result : report.with(Verdict.FAILED)) {
      out.printf("%n%s%n", result.describe());
      KnownFailure.of(examined, result)
          .ifPresent(
              known ->
                  out.printf("  known:    %s%n  jofi:     %s%n", known.lack(), known.remedy()));
    }
    List<Result> notClaimed = report.with(Verdict.NOT_CLAIMED);
    if (!notClaimed.isEmpty()) {
      out.printf("%nnot claimed:%n");
      TextTable reasons = new TextTable("case", "reason");
      notClaimed.forEach(result -> reasons.row(result.kase().id(), result.reason()));
      reasons.print(out);
    }
    out.printf(
        Locale.ROOT,
        "%n%d cases in %.1f s: %s%n",
        report.results().size(),
        report.nanos() / 1e9,
        report.isClean() ? "nothing failed" : report.total().failed() + " failed");
  }

  private static void row(TextTable table, String name, Report.Count count) {
    table.row(
        name,
        Integer.toString(count.passed()),
        Integer.toString(count.failed()),
        Integer.toString(count.notClaimed()));
  }

  /** The whole report, for JSON. */
  static Map<String, Object> fields(Report report) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("provider", report.description().subject());
    fields.put("source", report.description().source());
    fields.put("nic", report.description().nic());
    fields.put("claims", report.description().claims());
    fields.put("seconds", report.nanos() / 1e9);
    fields.put("passed", report.total().passed());
    fields.put("failed", report.total().failed());
    fields.put("notClaimed", report.total().notClaimed());
    fields.put("cases", report.results().stream().map(result -> fields(report, result)).toList());
    return fields;
  }

  private static Map<String, Object> fields(Report report, Result result) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("id", result.kase().id());
    fields.put("area", result.kase().area().slug());
    fields.put("rule", result.kase().rule());
    fields.put("verdict", result.verdict().name().toLowerCase(Locale.ROOT));
    fields.put("seconds", result.nanos() / 1e9);
    if (result.verdict() == Verdict.NOT_CLAIMED) {
      fields.put("reason", result.reason());
    }
    if (result.verdict() == Verdict.FAILED) {
      fields.put("expected", result.expected());
      fields.put("happened", result.happened());
      fields.put("where", result.where());
      Optional<KnownFailure> known = KnownFailure.of(report.description(), result);
      fields.put("known", known.map(KnownFailure::lack).orElse(null));
      fields.put("remedy", known.map(KnownFailure::remedy).orElse(null));
    }
    return fields;
  }
}
