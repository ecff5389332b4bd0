package org.jofi.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What of a run runs once more, and what that changes. */
class RepeatTest {
  private final PassResult result = new PassResult(Passes.of("a", ""), 1);

  private static void add(PassResult to, Events.Kind how, String test) {
    to.add(new PassResult.Ended(how, test, 1, how + " once"));
  }

  private void fail(String... tests) {
    Stream.of(tests).forEach(test -> add(result, Events.Kind.FAILED, test));
  }

  private static List<String> names(List<PassResult.Ended> tests) {
    return tests.stream().map(PassResult.Ended::test).toList();
  }

  private Repeat repeat() {
    List<Repeat> repeats = Repeat.of(List.of(result, new PassResult(Passes.of("b", ""), 1)));
    assertEquals(1, repeats.size());
    return repeats.getFirst();
  }

  private static void end(Repeat repeat) {
    repeat.methods().forEach(one -> repeat.again().end(new PassResult.Timed(one.name(), 1, 1)));
    repeat.settle();
  }

  @Test
  void invocationsOfAMethodRunOnceMoreTogether() {
    fail("x.Type#each [1] a", "x.Type#each [2] b", "x.Type#other");
    assertEquals(
        List.of("x.Type#each", "x.Type#other"),
        repeat().methods().stream()
            .map(one -> one.name() + "#" + one.method().orElseThrow())
            .toList());
  }

  @Test
  void whatPassesThenIsUnsteadyAndTheRestHasFailed() {
    fail("x.Type#each [1] a", "x.Type#each [2] b");
    Repeat repeat = repeat();
    add(repeat.again(), Events.Kind.PASSED, "x.Type#each [1] a");
    add(repeat.again(), Events.Kind.FAILED, "x.Type#each [2] b");
    end(repeat);
    assertEquals(List.of("x.Type#each [1] a"), names(result.unsteady));
    assertEquals("FAILED once", result.unsteady.getFirst().text());
    assertEquals(List.of("x.Type#each [2] b"), names(result.all(Events.Kind.FAILED)));
  }

  @Test
  void aClassThatCouldNotBeginRunsWhole() {
    fail("x.Type");
    Repeat repeat = repeat();
    assertEquals(true, repeat.methods().getFirst().method().isEmpty());
    add(repeat.again(), Events.Kind.PASSED, "x.Type#one");
    add(repeat.again(), Events.Kind.PASSED, "x.Type#two");
    end(repeat);
    assertEquals(List.of("x.Type"), names(result.unsteady));
  }

  @Test
  void whatIsSkippedThenOrDoesNotRunHasFailed() {
    fail("x.Type#each", "x.Type#other");
    Repeat repeat = repeat();
    add(repeat.again(), Events.Kind.SKIPPED, "x.Type#each");
    end(repeat);
    assertEquals(List.of("x.Type#each", "x.Type#other"), names(result.all(Events.Kind.FAILED)));
  }

  @Test
  void aProcessThatBreaksThenSettlesNothing() {
    fail("x.Type#each");
    Repeat repeat = repeat();
    add(repeat.again(), Events.Kind.PASSED, "x.Type#each");
    repeat.again().broke();
    end(repeat);
    assertEquals(List.of("x.Type#each"), names(result.all(Events.Kind.FAILED)));
  }

  @Test
  void nothingRunsOnceMoreWhereMuchFailedOrAProcessBroke() {
    fail("x.Type#a", "x.Type#b", "x.Type#c");
    assertEquals(Repeat.MOST, repeat().methods().size());
    fail("x.Type#d");
    assertEquals(List.of(), Repeat.of(List.of(result)));
    PassResult broken = new PassResult(Passes.of("a", ""), 1);
    add(broken, Events.Kind.FAILED, "x.Type#a");
    broken.broke();
    assertEquals(List.of(), Repeat.of(List.of(broken)));
  }
}
