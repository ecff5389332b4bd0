package org.jofi.conformance;

import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The whole kit as a JUnit class, in the test's process: extend it, name the provider, and every
 * case is a test, in a container for its area. A rule that the provider does not claim is reported
 * on standard output, with the reason, and is no failure. For providers that may crash or hang the
 * process: {@link ChildConformanceSuite}.
 */
public abstract class ConformanceSuite {
  /** For subclasses. */
  protected ConformanceSuite() {}

  /** What is examined; asked for once. */
  protected abstract Subject subject();

  /** One container for each area. */
  @TestFactory
  Stream<DynamicContainer> areas() {
    Subject subject = subject();
    CaseRunner runner = new CaseRunner(subject);
    return Arrays.stream(Area.values())
        .map(
            area ->
                DynamicContainer.dynamicContainer(
                    area.title(),
                    Cases.of(area).stream()
                        .map(
                            kase ->
                                DynamicTest.dynamicTest(
                                    kase.name(), () -> judge(subject.name(), runner.run(kase))))));
  }

  static void judge(String name, Result result) {
    switch (result.verdict()) {
      case PASSED -> {}
      case FAILED -> Assertions.fail(result.describe());
      case NOT_CLAIMED -> System.out.printf("%s %s%n", name, result.describe());
    }
  }
}
