package org.jofi.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jofi.conformance.Judgement;
import org.jofi.conformance.KnownFailure;
import org.jofi.conformance.Report;
import org.jofi.conformance.Result;
import org.jofi.conformance.Verdict;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;

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

  /**
   * Prints a table by area, the rules that were broken, known failures that did not show, the rules
   * that are not claimed, and the counts.
   */
  static void print(PrintWriter out, Judgement judgement) {
    Report report = judgement.report();
    Report.Description examined = report.description();
    out.printf("%s, %s (%s)%n", examined.subject(), examined.source(), examined.nic());
    out.printf("%s%n%n", examined.claims());
    TextTable table = new TextTable("area", "kept", "broken", "not claimed");
    for (Map.Entry<Area, Report.Count> area : report.byArea().entrySet()) {
      row(table, area.getKey().title(), area.getValue());
    }
    row(table, "all", report.total());
    table.print(out);
    broken(out, judgement);
    notBroken(out, judgement);
    List<Result> notClaimed = report.with(Verdict.NOT_CLAIMED);
    if (!notClaimed.isEmpty()) {
      out.printf("%nnot claimed:%n");
      TextTable reasons = new TextTable("case", "reason");
      notClaimed.forEach(result -> reasons.row(result.kase().id(), result.reason()));
      reasons.print(out);
    }
    out.printf(
        Locale.ROOT,
        "%n%d cases in %.1f s%n%s%n",
        report.results().size(),
        report.nanos() / 1e9,
        judgement.summary());
  }

  private static void broken(PrintWriter out, Judgement judgement) {
    for (Result result : judgement.report().with(Verdict.BROKEN)) {
      out.printf("%n%s%n", result.describe());
      Optional<KnownFailure> known = judgement.known(result);
      if (known.isPresent()) {
        out.printf(
            "  known:    of %s of %s, %s: %s%n  jofi:     %s%n",
            known.get().provider(),
            known.get().versions(),
            known.get().rate(),
            known.get().lack(),
            known.get().remedy());
      } else {
        out.printf("  known:    not of %s%n", judgement.subject());
      }
    }
  }

  private static void notBroken(PrintWriter out, Judgement judgement) {
    if (judgement.notBroken().isEmpty()) {
      return;
    }
    out.printf("%nknown to be broken by %s, and not in this run:%n", judgement.subject());
    TextTable table = new TextTable("case", "verdict", "known to be broken", "how");
    judgement
        .notBroken()
        .forEach(
            one ->
                table.row(
                    one.failure().caseId(),
                    one.result().verdict().words(),
                    one.failure().rate().toString(),
                    one.failure().lack()));
    table.print(out);
  }

  private static void row(TextTable table, String name, Report.Count count) {
    table.row(
        name,
        Integer.toString(count.kept()),
        Integer.toString(count.broken()),
        Integer.toString(count.notClaimed()));
  }

  /** The whole report, for JSON. */
  static Map<String, Object> fields(Judgement judgement) {
    Report report = judgement.report();
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("provider", report.description().subject());
    fields.put("source", report.description().source());
    fields.put("nic", report.description().nic());
    fields.put("claims", report.description().claims());
    fields.put("seconds", report.nanos() / 1e9);
    fields.put("kept", report.total().kept());
    fields.put("broken", report.total().broken());
    fields.put("notClaimed", report.total().notClaimed());
    fields.put("known", ids(judgement.knownBroken()));
    fields.put(
        "notBroken", ids(judgement.notBroken().stream().map(Judgement.NotBroken::result).toList()));
    fields.put("summary", judgement.summary());
    fields.put(
        "cases", report.results().stream().map(result -> fields(judgement, result)).toList());
    return fields;
  }

  private static List<String> ids(List<Result> results) {
    return results.stream().map(result -> result.kase().id()).toList();
  }

  private static Map<String, Object> fields(Judgement judgement, Result result) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("id", result.kase().id());
    fields.put("area", result.kase().area().slug());
    fields.put("rule", result.kase().rule());
    fields.put("verdict", result.verdict().name().toLowerCase(Locale.ROOT));
    fields.put("seconds", result.nanos() / 1e9);
    if (result.verdict() == Verdict.NOT_CLAIMED) {
      fields.put("reason", result.reason());
    }
    if (result.verdict() == Verdict.BROKEN) {
      fields.put("expected", result.expected());
      fields.put("happened", result.happened());
      fields.put("where", result.where());
      Optional<KnownFailure> known = judgement.known(result);
      fields.put("known", known.map(KnownFailure::lack).orElse(null));
      fields.put("remedy", known.map(KnownFailure::remedy).orElse(null));
    }
    return fields;
  }
}
