package org.jofi.conformance;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.subject.Subjects;

/** A judgement as a section of docs/CONFORMANCE.md. */
public final class Markdown {
  private Markdown() {}

  /** Heading, counts, broken rules with what jofi does about each, and what is not claimed. */
  public static String section(Judgement judgement) {
    Report report = judgement.report();
    Report.Description examined = report.description();
    StringBuilder text = new StringBuilder();
    text.append("## ").append(title(examined)).append("\n\n");
    text.append(examined.claims()).append(".\n\n");
    text.append("| area | kept | broken | not claimed |\n|---|---|---|---|\n");
    for (Map.Entry<Area, Report.Count> area : report.byArea().entrySet()) {
      row(text, area.getKey().title(), area.getValue());
    }
    row(text, "**all**", report.total());
    text.append("\n").append(judgement.summary()).append("\n");
    broken(text, judgement);
    notBroken(text, judgement);
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
            .formatted(name, count.kept(), count.broken(), count.notClaimed()));
  }

  private static void broken(StringBuilder text, Judgement judgement) {
    List<Result> broken = judgement.report().with(Verdict.BROKEN);
    if (broken.isEmpty()) {
      return;
    }
    text.append(
        """

        | broken | known of | rule | what it does | what jofi does about it |
        |---|---|---|---|---|
        """);
    for (Result result : broken) {
      Optional<KnownFailure> known = judgement.known(result);
      text.append(
          "| `%s` | %s | %s | %s | %s |%n"
              .formatted(
                  result.kase().id(),
                  known
                      .map(one -> "%s, %s".formatted(one.versions(), one.rate()))
                      .orElse("**not known**"),
                  cell(result.kase().rule()),
                  cell(known.map(KnownFailure::lack).orElse(result.happened())),
                  cell(known.map(KnownFailure::remedy).orElse("not known yet"))));
    }
  }

  private static void notBroken(StringBuilder text, Judgement judgement) {
    if (judgement.notBroken().isEmpty()) {
      return;
    }
    text.append("\nKnown to be broken, and not in this run:\n\n");
    for (Judgement.NotBroken one : judgement.notBroken()) {
      text.append(
          "- `%s`: %s; known of %s, %s: %s%n"
              .formatted(
                  one.failure().caseId(),
                  one.result().verdict().words(),
                  one.failure().versions(),
                  one.failure().rate(),
                  one.failure().lack()));
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
