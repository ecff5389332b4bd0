package org.jofi.runner;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What of a pass runs once more at the end of a full run, with nothing beside it: the methods with
 * a test that failed. One that passes then is unsteady: the run says so, with what it failed with,
 * and does not fail for it. Few may be; and none after a process of tests crashed or hung, which is
 * no matter of load.
 *
 * @param first what became of the pass
 * @param again what becomes of the methods
 */
record Repeat(PassResult first, PassResult again, List<TestClass> methods) {
  /** How many methods run once more. Where more failed, something is wrong. */
  static final int MOST = 3;

  /** Those of a run; none where there are too many, or a process broke. */
  static List<Repeat> of(List<PassResult> results) {
    List<Repeat> repeats = new ArrayList<>();
    for (PassResult result : results) {
      List<TestClass> methods =
          result.all(Events.Kind.FAILED).stream().map(Repeat::method).distinct().toList();
      if (!methods.isEmpty()) {
        repeats.add(new Repeat(result, new PassResult(result.pass, methods.size()), methods));
      }
    }
    int count = repeats.stream().mapToInt(repeat -> repeat.methods.size()).sum();
    boolean broken = results.stream().anyMatch(PassResult::isBroken);
    return count > MOST || broken ? List.of() : List.copyOf(repeats);
  }

  /** The method of a test, or the class that could not begin. */
  private static TestClass method(PassResult.Ended test) {
    String[] name = test.test().split(" ", 2)[0].split("#", 2);
    return new TestClass(
        name[0], name.length == 1 ? Optional.empty() : Optional.of(name[1]), false);
  }

  /** Takes what passed this time from what failed, if all of it ran. */
  void settle() {
    if (!again.isBroken() && again.left() == 0) {
      first.settle(again);
    }
  }
}
