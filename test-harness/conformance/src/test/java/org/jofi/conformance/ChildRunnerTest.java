package org.jofi.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.FabricUnavailableException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Tag("libfabric")
@Timeout(200)
@Execution(ExecutionMode.CONCURRENT)
class ChildRunnerTest {
  /** Of one area, so that they share a process until one ruins it: the second one that opens. */
  private static final List<Case> THREE =
      List.of(
          Cases.named("keys/unique"),
          Cases.named("keys/none-without-access"),
          Cases.named("keys/stable"));

  @Test
  void aCrashFailsItsCaseWithTheSignalAndTheRestGoesOn() throws Exception {
    Report report = Children.run(MisbehavingSubject.Crashing.class, THREE);
    assertOnlyTheSecondFailed(report);
    assertTrue(
        report
            .results()
            .get(1)
            .happened()
            .startsWith("it crashes: the process was ended by signal SIGSEGV"),
        () -> report.results().get(1).describe());
  }

  @Test
  void aProcessThatEndsFailsItsCaseWithItsCode() throws Exception {
    Report report = Children.run(MisbehavingSubject.Ending.class, THREE);
    assertOnlyTheSecondFailed(report);
    assertTrue(
        report.results().get(1).happened().contains("ended with code 42"),
        () -> report.results().get(1).describe());
  }

  @Test
  void aCaseThatHangsIsStoppedAndFails() throws Exception {
    List<Case> cases = THREE.stream().map(kase -> kase.within(Duration.ofSeconds(3))).toList();
    CaseRunner runner = new CaseRunner(new MisbehavingSubject.Hanging());
    List<Result> results = List.of(runner.run(cases.get(0)), runner.run(cases.get(1)));
    assertEquals(Verdict.KEPT, results.get(0).verdict());
    assertEquals(Verdict.BROKEN, results.get(1).verdict());
    assertTrue(
        results.get(1).happened().contains("it hangs: stopped after 3 s")
            && results.get(1).happened().contains("ruin"),
        () -> results.get(1).describe());
  }

  @Test
  void aProcessInWhichACaseHangsIsLeft() throws Exception {
    Report report = Children.run(MisbehavingSubject.Hanging.class, THREE);
    assertOnlyTheSecondFailed(report);
    assertTrue(
        report.results().get(1).happened().contains("it hangs"),
        () -> report.results().get(1).describe());
  }

  private static void assertOnlyTheSecondFailed(Report report) {
    assertEquals(
        List.of(Verdict.KEPT, Verdict.BROKEN, Verdict.KEPT),
        report.results().stream().map(Result::verdict).toList(),
        () -> report.results().toString());
  }

  /** What the second of them finds may be the first one's doing. */
  @Test
  void aRiskyCaseThatFailsBehindAnotherIsTriedAgainInAProcessOfItsOwn() throws Exception {
    List<Case> risky = THREE.stream().map(Case::alone).toList();
    Report report = Children.run(MisbehavingSubject.Ending.class, risky);
    assertEquals(
        List.of(Verdict.KEPT, Verdict.KEPT, Verdict.KEPT),
        report.results().stream().map(Result::verdict).toList(),
        () -> report.results().toString());
  }

  @Test
  void aProviderThatIsNotThereIsNamed() {
    FabricUnavailableException missing =
        assertThrows(
            FabricUnavailableException.class,
            () ->
                new ChildRunner("no-such-provider", null, Children.java(), Children.properties())
                    .run(THREE, result -> {}));
    assertTrue(
        missing.getMessage().contains("no provider 'no-such-provider'")
            && missing.getMessage().contains("shm"),
        missing::getMessage);
  }

  @Test
  void aJavaThatIsNoneSaysSo() {
    assertThrows(
        java.io.IOException.class,
        () ->
            new ChildRunner("shm", null, Path.of("no-such-java"), List.of())
                .run(THREE, result -> {}));
  }
}
