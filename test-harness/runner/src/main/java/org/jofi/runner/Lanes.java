package org.jofi.runner;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * Hands classes to lanes, which each run one at a time: a lane stays with its pass, whose process
 * it has; then it takes the pass with the most left that no lane is at, and last of all it helps
 * another one. So the longest begin first, and few processes start.
 */
final class Lanes {
  /** What is left of a pass. */
  private static final class Left {
    final Pass pass;
    final Deque<TestClass> classes;
    int lanes;

    Left(Pass pass, List<TestClass> classes) {
      this.pass = pass;
      this.classes = new ArrayDeque<>(classes);
    }
  }

  /** A class, and the pass that it belongs to. */
  record Next(Pass pass, TestClass type) {}

  private final List<Left> left = new ArrayList<>();
  private final Map<Integer, Left> at = new HashMap<>();
  private final ToDoubleFunction<Next> expected;

  /** How much a process is worth that has to be started to help: so much has to be left, in s. */
  private final double worthHelping;

  /**
   * @param expected how many s a class is expected to take
   * @param worthHelping how many s have to be left of a pass for a second lane to join it
   */
  Lanes(ToDoubleFunction<Next> expected, double worthHelping) {
    this.expected = expected;
    this.worthHelping = worthHelping;
  }

  void add(Pass pass, List<TestClass> classes) {
    Comparator<TestClass> longestFirst =
        Comparator.comparingDouble((TestClass one) -> expected.applyAsDouble(new Next(pass, one)))
            .reversed();
    if (!classes.isEmpty()) {
      left.add(new Left(pass, classes.stream().sorted(longestFirst).toList()));
    }
  }

  /** The next class for a lane; nothing when it is done. */
  synchronized Optional<Next> next(int lane) {
    Left mine = at.get(lane);
    if (mine == null || mine.classes.isEmpty()) {
      if (mine != null) {
        mine.lanes--;
        at.remove(lane);
      }
      Optional<Left> another = another();
      if (another.isEmpty()) {
        return Optional.empty();
      }
      mine = another.get();
      mine.lanes++;
      at.put(lane, mine);
    }
    return Optional.of(new Next(mine.pass, mine.classes.removeFirst()));
  }

  private Optional<Left> another() {
    List<Left> some = left.stream().filter(one -> !one.classes.isEmpty()).toList();
    return some.stream()
        .filter(one -> one.lanes == 0)
        .max(Comparator.comparingDouble(this::seconds))
        .or(
            () ->
                some.stream()
                    .filter(one -> seconds(one) >= worthHelping)
                    .max(Comparator.comparingDouble(this::seconds)));
  }

  private double seconds(Left one) {
    return one.classes.stream()
        .mapToDouble(type -> expected.applyAsDouble(new Next(one.pass, type)))
        .sum();
  }
}
