package org.jofi.runner;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** What became of a pass so far. Lanes add to it; each caller holds its lock. */
final class PassResult {
  /** A test that ended. */
  record Ended(Events.Kind how, String test, long nanos, String text) {}

  /** A class that ended. */
  record Timed(String name, long nanos, long processorNanos) {}

  final Pass pass;
  final List<Ended> tests = new ArrayList<>();
  final List<Timed> classes = new ArrayList<>();
  final List<Ended> unsteady = new ArrayList<>();
  private int left;
  private boolean broken;

  PassResult(Pass pass, int classes) {
    this.pass = pass;
    left = classes;
  }

  synchronized void add(Ended test) {
    tests.add(test);
  }

  /** Notes that a process of it crashed, hung or did not start. */
  synchronized void broke() {
    broken = true;
  }

  /** Whether one of its processes crashed, hung or did not start. */
  synchronized boolean isBroken() {
    return broken;
  }

  /** Takes tests that passed when they ran once more from those that failed. */
  synchronized void settle(PassResult repeat) {
    Set<String> passed =
        repeat.all(Events.Kind.PASSED).stream().map(Ended::test).collect(Collectors.toSet());
    // A class that could not begin has no tests of its own, so those of the repeat tell of it.
    boolean whole = !passed.isEmpty() && repeat.count(Events.Kind.FAILED) == 0;
    for (Ended test : all(Events.Kind.FAILED)) {
      if (passed.contains(test.test()) || (whole && !test.test().contains("#"))) {
        tests.remove(test);
        unsteady.add(test);
      }
    }
  }

  /** Notes that a class is over. True if it was the last. */
  synchronized boolean end(Timed one) {
    classes.add(one);
    left--;
    return left == 0;
  }

  /** How many classes are not over. */
  synchronized int left() {
    return left;
  }

  synchronized int count(Events.Kind how) {
    return (int) tests.stream().filter(test -> test.how() == how).count();
  }

  synchronized List<Ended> all(Events.Kind how) {
    return tests.stream().filter(test -> test.how() == how).toList();
  }

  /** The time of its classes; of two that ran beside each other, both. */
  synchronized long nanos() {
    return classes.stream().mapToLong(Timed::nanos).sum();
  }

  /** The processor time of its classes. */
  synchronized long processorNanos() {
    return classes.stream().mapToLong(Timed::processorNanos).sum();
  }
}
