package org.jofi.conformance;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jofi.conformance.rule.Area;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;

/**
 * The tests that JUnit sees of a report: one for each rule that is kept, which passes, and one for
 * each that is broken and not known, which fails. All others are in one test, which fails if they
 * are not those that are expected, and otherwise is aborted with the three counts as its reason: it
 * is no pass, and summaries that list such tests have a line for each provider.
 */
final class SuiteTests {
  private SuiteTests() {}

  /**
   * The tests, in a container for each area, and one for the counts.
   *
   * @param notClaimed how many rules are expected not to be claimed
   */
  static Stream<DynamicNode> of(Judgement judgement, int notClaimed) {
    return Stream.concat(
        Arrays.stream(Area.values())
            .filter(area -> tests(judgement, area).findAny().isPresent())
            .map(area -> DynamicContainer.dynamicContainer(area.title(), tests(judgement, area))),
        Stream.of(DynamicTest.dynamicTest("verdicts", () -> verdicts(judgement, notClaimed))));
  }

  private static Stream<DynamicTest> tests(Judgement judgement, Area area) {
    return judgement.report().results().stream()
        .filter(result -> result.kase().area() == area)
        .filter(result -> result.verdict() != Verdict.NOT_CLAIMED)
        .filter(result -> judgement.known(result).isEmpty())
        .map(
            result ->
                DynamicTest.dynamicTest(
                    result.kase().name(),
                    () ->
                        Assertions.assertEquals(Verdict.KEPT, result.verdict(), result::describe)));
  }

  /** Without what is broken in some runs, and in others gets not so far that it can be tried. */
  private static List<Result> notClaimed(Judgement judgement) {
    List<Result> byChance =
        judgement.notBroken().stream()
            .filter(one -> !one.isStale())
            .map(Judgement.NotBroken::result)
            .toList();
    return judgement.report().with(Verdict.NOT_CLAIMED).stream()
        .filter(result -> !byChance.contains(result))
        .toList();
  }

  private static void verdicts(Judgement judgement, int expected) {
    List<String> surprises = new ArrayList<>();
    judgement.notBroken().stream()
        .filter(Judgement.NotBroken::isStale)
        .map(
            one ->
                "%s is %s, and known of %s to be broken in every run: %s"
                    .formatted(
                        one.failure().caseId(),
                        one.result().verdict().words(),
                        one.failure().versions(),
                        one.failure().lack()))
        .forEach(surprises::add);
    List<Result> notClaimed = notClaimed(judgement);
    if (notClaimed.size() != expected) {
      surprises.add(
          "%d rules are not claimed, not %d:%n%s"
              .formatted(
                  notClaimed.size(),
                  expected,
                  notClaimed.stream()
                      .map(result -> "  %s: %s".formatted(result.kase().id(), result.reason()))
                      .collect(Collectors.joining(System.lineSeparator()))));
    }
    String line = judgement.subject() + ": " + judgement.summary();
    if (!surprises.isEmpty()) {
      Assertions.fail(
          line + System.lineSeparator() + String.join(System.lineSeparator(), surprises));
    }
    Report.Count total = judgement.report().total();
    Assumptions.assumeTrue(total.broken() == 0 && total.notClaimed() == 0, line);
  }
}
