package org.jofi.efadouble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.nicdouble.Ended;
import org.jofi.nicdouble.NewerLibrary;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What docs/PROVIDERS.md says of efa and efa-direct: each probe of efa-facts, on the real provider.
 */
@Tag("libfabric")
@Tag("long")
@Execution(ExecutionMode.SAME_THREAD)
class FactsTest {
  private static final long BOUND_SECONDS = 120;
  private static final int TRIES = 3;

  /** The exit code of a probe whose subject this libfabric does not have. */
  private static final int THERE_IS_NO_SUCH = 77;

  @TestFactory
  Stream<DynamicTest> ofEfa() throws IOException, InterruptedException {
    return names().stream().map(name -> DynamicTest.dynamicTest(name, () -> holds(name, "efa")));
  }

  /** libfabric 1 has none, which each probe finds out by asking for it. */
  @TestFactory
  Stream<DynamicTest> ofEfaDirect() throws IOException, InterruptedException {
    List<String> names = names();
    return (NewerLibrary.isUnderTest() ? names : names.subList(0, 1))
        .stream().map(name -> DynamicTest.dynamicTest(name, () -> holds(name, "efa-direct")));
  }

  private static List<String> names() throws IOException, InterruptedException {
    try (EfaDouble efa = EfaDouble.devices(1)) {
      Ended list = run(efa, List.of("list"));
      assertEquals(0, list.code(), list::output);
      assertFalse(list.output().isEmpty(), "there are no probes");
      return list.output().lines().toList();
    }
  }

  /**
   * Most of it is about what happens between two moments, which another process's turn may come
   * between on a busy machine. So what fails is tried again, and printed.
   */
  private static void holds(String name, String fabric) throws IOException, InterruptedException {
    try (EfaDouble efa = EfaDouble.devices(1)) {
      Ended run = run(efa, List.of("run", name, "--fabric", fabric));
      for (int again = 1;
          again < TRIES && run.code() != 0 && run.code() != THERE_IS_NO_SUCH;
          again++) {
        System.out.println(run.output());
        run = run(efa, List.of("run", name, "--fabric", fabric));
      }
      assumeFalse(run.code() == THERE_IS_NO_SUCH, run.output());
      assertEquals(0, run.code(), run.output());
      efa.demandNoViolations();
    }
  }

  private static Ended run(EfaDouble efa, List<String> arguments)
      throws IOException, InterruptedException {
    Path program = efa.program("efa-facts");
    // It is built where libfabric's headers are, which the tests of jofi need all the same.
    assertTrue(Files.isExecutable(program), "apt-get install libfabric-dev");
    return Ended.of(NewerLibrary.start(efa, program, arguments), BOUND_SECONDS);
  }
}
