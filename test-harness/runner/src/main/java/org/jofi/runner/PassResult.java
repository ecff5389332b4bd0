package org.jofi.runner;

import java.util.ArrayList;
import java.util.List;

/** What became of a pass so far. Lanes add to it; each caller holds its lock. */
final class PassResult {
  /** A test that ended. */
  record Ended(Events.Kind how, String test, long nanos, String text) {}

  /** A class that ended. */
  record Timed(String name, long nanos, long processorNanos) {}

  final Pass pass;
  final List<Ended> tests = new ArrayList<>();
  final List<Timed> classes = new ArrayList<>();
  private int left;

  PassResult(Pass pass, int classes) {
    this.pass = pass;
    left = classes;
  }

  synchronized void add(Ended test) {
    tests.add(test);
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
