package org.jofi.conformance;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** A report as a section of docs/CONFORMANCE.md. */
public final class Markdown {
  private Markdown() {}

  /** Heading, table, failures with what jofi does about each, and what is not claimed. */
  public static String section(Report report) {
    Report.Description examined = report.description();
    StringBuilder text = new StringBuilder();
    text.append("## ").append(title(examined)).append("\n\n");
    text.append(examined.claims()).append(".\n\n");
    text.append("| area | passed | failed | not claimed |\n|---|---|---|---|\n");
    for (Map.Entry<Area, Report.Count> area : report.byArea().entrySet()) {
      row(text, area.getKey().title(), area.getValue());
    }
    row(text, "**all**", report.total());
    failures(text, report);
    notClaimed(text, report);
    return text.append('\n').toString();
  }

  /** What a section is called. */
  static String title(Report.Description examined) {
    return examined.subject().startsWith(Subjects.SIMULATED)
        ? "`" + examined.subject() + "`"
        : "`%s` of %s".formatted(examined.subject(), examined.source());
  }

  private static void row(StringBuilder text, String name, Report.Count count) {
    text.append(
        "| %s | %d | %d | %d |%n"
            .formatted(name, count.passed(), count.failed(), count.notClaimed()));
  }

  private static void failures(StringBuilder text, Report report) {
    if (report.isClean()) {
      return;
    }
    text.append(
        "\n| failed | rule | what it does | what jofi does about it |\n|---|---|---|---|\n");
    for (Result result : report.with(Verdict.FAILED)) {
      Optional<KnownFailure> known = KnownFailure.of(report.description(), result);
      text.append(
          "| `%s` | %s | %s | %s |%n"
              .formatted(
                  result.kase().id(),
                  cell(result.kase().rule()),
                  cell(known.map(KnownFailure::lack).orElse(result.happened())),
                  cell(known.map(KnownFailure::remedy).orElse("not known yet"))));
    }
  }

  private static void notClaimed(StringBuilder text, Report report) {
    if (report.with(Verdict.NOT_CLAIMED).isEmpty()) {
      return;
    }
    text.append("\nNot claimed:\n\n");
    for (Result result : report.with(Verdict.NOT_CLAIMED)) {
      text.append("- `%s`: %s%n".formatted(result.kase().id(), result.reason()));
    }
  }

  private static String cell(String text) {
    return text.replace("|", "\\|").replaceAll("\\s+", " ");
  }

  /** The rules themselves, for the page's end. */
  public static String rules() {
    StringBuilder text = new StringBuilder("## Rules\n");
    for (Area area : Area.values()) {
      text.append("\n### ")
          .append(area.title().substring(0, 1).toUpperCase(Locale.ROOT))
          .append(area.title().substring(1))
          .append("\n\n");
      for (Case kase : Cases.of(area)) {
        text.append("- `%s`: %s%n".formatted(kase.id(), kase.rule()));
      }
    }
    return text.toString();
  }
}
