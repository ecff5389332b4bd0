package org.jofi.conformance;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The whole kit as a JUnit class, in child processes: for providers that may crash or hang. Rules
 * that {@link KnownFailure} lists for the provider may fail; each is reported on standard output.
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

  /** The java that runs the cases. */
  protected Path java() {
    return ChildRunner.ownJava();
  }

  /** System properties of the children, as {@code NAME=VALUE}. */
  protected List<String> properties() {
    return List.of();
  }

  /** One container for each area. The cases have run when it is made. */
  @TestFactory
  Stream<DynamicContainer> areas() throws IOException, InterruptedException {
    Report report =
        new ChildRunner(subject(), domain(), java(), properties()).run(Cases.all(), result -> {});
    return Arrays.stream(Area.values())
        .map(
            area ->
                DynamicContainer.dynamicContainer(
                    area.title(),
                    report.results().stream()
                        .filter(result -> result.kase().area() == area)
                        .map(
                            result ->
                                DynamicTest.dynamicTest(
                                    result.kase().name(),
                                    () -> judge(report.description(), result)))));
  }

  private static void judge(Report.Description examined, Result result) {
    Optional<KnownFailure> known =
        result.verdict() == Verdict.FAILED ? KnownFailure.of(examined, result) : Optional.empty();
    if (known.isPresent()) {
      System.out.printf(
          "%s of %s %s: known to fail: %s%n",
          examined.subject(), examined.source(), result.kase().id(), known.get().lack());
    } else {
      ConformanceSuite.judge(examined.subject() + " of " + examined.source(), result);
    }
  }
}
