package org.jofi.conformance.liars;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jofi.conformance.CaseRunner;
import org.jofi.conformance.Cases;
import org.jofi.conformance.Report;
import org.jofi.conformance.Result;
import org.jofi.conformance.Verdict;
import org.jofi.conformance.rule.Case;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each rule that is broken alone is the one that fails, and the only one. */
@Execution(ExecutionMode.CONCURRENT)
class LiarsTest {
  /**
   * What every case that moves data rests on: a provider that breaks one of these fails nearly all
   * others as well, so that no lie can be told about it alone.
   */
  private static final Set<String> FOUNDATIONS =
      Set.of(
          "registration/usable-at-once",
          "registration/bind-enable",
          "closing/region-after-endpoint",
          "progress/polling-is-enough");

  static List<Liar> liars() {
    return Stream.of(
            DiscoveryLies.all(),
            RegistrationLies.all(),
            KeyLies.all(),
            MessageLies.all(),
            RmaLies.all(),
            ImmediateLies.all(),
            OrderLies.all(),
            FlowLies.all(),
            ErrorLies.all(),
            ClosingLies.all(),
            SharingLies.all())
        .flatMap(List::stream)
        .toList();
  }

  @ParameterizedTest
  @MethodSource("liars")
  @Tag("long")
  @Timeout(240)
  void failsTheRuleThatItBreaksAndNoOther(Liar liar) throws InterruptedException {
    Report report = new CaseRunner(liar.subject()).run(Cases.all(), result -> {});
    assertEquals(
        List.of(liar.breaks()),
        report.with(Verdict.BROKEN).stream().map(result -> result.kase().id()).toList(),
        () ->
            String.join(
                System.lineSeparator(),
                report.with(Verdict.BROKEN).stream().map(Result::describe).toList()));
  }

  @Test
  void whoGetsNoProcessorWhileItWatchesStillPolls() throws InterruptedException {
    String idle = "errors/empty";
    Liar liar = liars().stream().filter(one -> one.breaks().equals(idle)).findFirst().orElseThrow();
    Case kase = Cases.all().stream().filter(one -> one.id().equals(idle)).findFirst().orElseThrow();
    Result result = new CaseRunner(liar.subject(Duration.ZERO)).run(kase);
    assertEquals(Verdict.BROKEN, result.verdict(), result::describe);
  }

  @Test
  void everyOtherRuleHasItsLiar() {
    Set<String> all = new TreeSet<>(Cases.all().stream().map(Case::id).toList());
    Set<String> told = new TreeSet<>(liars().stream().map(Liar::breaks).toList());
    told.addAll(FOUNDATIONS);
    assertEquals(all, told);
  }
}
