package org.jofi.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.conformance.KnownFailure.Rate;
import org.jofi.conformance.rule.Case;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/** What JUnit is told of each verdict. */
class SuiteTestsTest {
  private static final Case READ = Cases.named("rma/read");
  private static final Case BOUNDS = Cases.named("rma/read-bounds");
  private static final Case EMPTY = Cases.named("rma/empty-write");

  private static final Result NOT_CLAIMED =
      Result.notClaimed(Cases.named("keys/unique"), "chooses none", 1);

  private static Result broken(Case kase) {
    return Result.broken(kase, "this", "that", "there", 1);
  }

  private static List<DynamicTest> tests(int notClaimed, Rate rate, Result... results) {
    Report report =
        new Report(
            new Report.Description("shm", "libfabric 2.1", "nic", "claims"), List.of(results), 1);
    KnownFailure known =
        new KnownFailure(
            "shm", VersionRange.only("libfabric", "2.1"), EMPTY.id(), rate, "does not", "waits");
    return flat(SuiteTests.of(Judgement.of(report, List.of(known)), notClaimed));
  }

  private static List<DynamicTest> flat(Stream<? extends DynamicNode> nodes) {
    List<DynamicTest> tests = new ArrayList<>();
    nodes.forEach(
        node -> {
          if (node instanceof DynamicContainer container) {
            tests.addAll(flat(container.getChildren()));
          } else {
            tests.add((DynamicTest) node);
          }
        });
    return tests;
  }

  private static <T extends Throwable> String message(Class<T> type, DynamicTest test) {
    return String.valueOf(
        assertThrows(type, () -> test.getExecutable().execute(), test.getDisplayName())
            .getMessage());
  }

  @Test
  void onlyKeptRulesPassAndOnlyUnknownOnesFail() throws Throwable {
    List<DynamicTest> tests =
        tests(1, Rate.ALWAYS, Result.kept(READ, 1), broken(BOUNDS), broken(EMPTY), NOT_CLAIMED);
    assertEquals(
        List.of("read", "read-bounds", "verdicts"),
        tests.stream().map(DynamicTest::getDisplayName).toList());
    tests.get(0).getExecutable().execute();
    assertTrue(message(AssertionError.class, tests.get(1)).contains("rma/read-bounds: BROKEN"));
    assertTrue(
        message(TestAbortedException.class, tests.get(2))
            .endsWith(
                "shm 2.1: 1 kept, 2 broken (1 known of shm 2.1: rma/empty-write), 1 not claimed"));
  }

  @Test
  void moreOrFewerThatAreNotClaimedFail() {
    for (int expected : new int[] {0, 2}) {
      String text =
          message(
              AssertionError.class,
              tests(expected, Rate.ALWAYS, broken(EMPTY), NOT_CLAIMED).getLast());
      assertTrue(text.contains("1 rules are not claimed, not " + expected), text);
      assertTrue(text.contains("keys/unique: chooses none"), text);
    }
  }

  @Test
  void whatIsKnownAndKeptFails() {
    String text =
        message(AssertionError.class, tests(0, Rate.ALWAYS, Result.kept(EMPTY, 1)).getLast());
    assertTrue(
        text.contains(
            "rma/empty-write is kept, and known of libfabric 2.1 to be broken in every run"),
        text);
  }

  @Test
  void whatIsKnownOfSomeRunsMayBeKept() throws Throwable {
    tests(0, new Rate(1, 9), Result.kept(EMPTY, 1)).getLast().getExecutable().execute();
  }

  @Test
  void whatIsKnownOfSomeRunsMayGetNotSoFar() {
    Result notSoFar = Result.notClaimed(EMPTY, "an earlier step fails", 1);
    String text = message(TestAbortedException.class, tests(0, new Rate(1, 9), notSoFar).getLast());
    assertTrue(text.contains("0 kept, 0 broken, 1 not claimed"), text);
  }
}
