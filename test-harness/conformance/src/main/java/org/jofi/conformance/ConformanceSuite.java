package org.jofi.conformance;

import java.util.stream.Stream;
import org.jofi.conformance.subject.Subject;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * The whole kit as a JUnit class, in the test's process: extend it and name the provider. A rule
 * that is kept is a test that passes, in a container for its area, and a rule that is broken is one
 * that fails. Rules that the provider does not claim are no tests of their own: the last test,
 * {@code verdicts}, fails if there are more or fewer of them than {@link #notClaimed}, and
 * otherwise is aborted, with the three counts as its reason. For providers that may crash or hang
 * the process: {@link ChildConformanceSuite}.
 */
@Isolated("cases look whether a sender overtakes its NIC")
public abstract class ConformanceSuite {
  /** For subclasses. */
  protected ConformanceSuite() {}

  /** What is examined; asked for once. */
  protected abstract Subject subject();

  /**
   * How many rules are not claimed: what a provider ceases to promise would look like success
   * otherwise.
   */
  protected abstract int notClaimed();

  /** The cases have run when it is made. */
  @TestFactory
  Stream<DynamicNode> rules() throws InterruptedException {
    Report report = new CaseRunner(subject()).run(Cases.all(), result -> {});
    return SuiteTests.of(Judgement.of(report), notClaimed());
  }
}
