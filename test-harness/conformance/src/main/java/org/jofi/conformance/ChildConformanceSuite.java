package org.jofi.conformance;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.subject.Subjects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;

/**
 * The whole kit, or some of its rules, as a JUnit class, in child processes: for providers that may
 * crash or hang. Its tests are those of {@link ConformanceSuite}. A rule that {@link KnownFailure}
 * lists for exactly this provider and version is no test of its own either, and its being kept is
 * the failure of {@code verdicts}, unless it is broken in some runs only.
 */
public abstract class ChildConformanceSuite {
  /** For subclasses. */
  protected ChildConformanceSuite() {}

  /** What is examined, as {@link Subjects#named} has it. */
  protected abstract String subject();

  /** The NIC; null for any. */
  protected @Nullable String domain() {
    return null;
  }

  /** The rules. */
  protected List<Case> cases() {
    return Cases.all();
  }

  /** The java that runs the cases. */
  protected Path java() {
    return ChildRunner.ownJava();
  }

  /** System properties of the children, as {@code NAME=VALUE}. */
  protected List<String> properties() {
    return List.of();
  }

  /** What the children have in their environment beside what they inherit. */
  protected Map<String, String> environment() {
    return Map.of();
  }

  /** Further tests, for when the children have ended. */
  protected Stream<DynamicNode> afterwards() {
    return Stream.empty();
  }

  /**
   * How many rules are not claimed: what a provider ceases to promise would look like success
   * otherwise.
   */
  protected abstract int notClaimed();

  /** The cases have run when it is made. */
  @TestFactory
  Stream<DynamicNode> rules() throws IOException, InterruptedException {
    Report report =
        new ChildRunner(subject(), domain(), java(), properties())
            .withEnvironment(environment())
            .run(cases(), result -> {});
    return Stream.concat(SuiteTests.of(Judgement.of(report), notClaimed()), afterwards());
  }
}
