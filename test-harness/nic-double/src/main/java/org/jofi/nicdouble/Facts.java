package org.jofi.nicdouble;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;

/**
 * What docs/PROVIDERS.md says of a provider: each probe of a double's program, on the real one.
 *
 * <p>Most of it is about what happens between two moments, which another process's turn may come
 * between on a busy machine. So what fails is tried again, and printed.
 */
public final class Facts {
  private static final long BOUND_SECONDS = 120;
  private static final int TRIES = 3;

  /** The exit code of a probe whose subject this libfabric does not have. */
  private static final int THERE_IS_NO_SUCH = 77;

  private final Supplier<? extends NicDouble> nics;
  private final String program;

  /**
   * Probes of a provider.
   *
   * @param nics makes the devices of one probe
   * @param program that has the probes
   */
  public Facts(Supplier<? extends NicDouble> nics, String program) {
    this.nics = nics;
    this.program = program;
  }

  /** A test for each of them, with further options. */
  public Stream<DynamicTest> tests(String... options) throws IOException, InterruptedException {
    return names().stream()
        .map(name -> DynamicTest.dynamicTest(name, () -> holds(name, List.of(options))));
  }

  private List<String> names() throws IOException, InterruptedException {
    try (NicDouble each = nics.get()) {
      Ended list = run(each, List.of("list"));
      Assertions.assertEquals(0, list.code(), list::output);
      Assertions.assertFalse(list.output().isEmpty(), "there are no probes");
      return list.output().lines().toList();
    }
  }

  private void holds(String name, List<String> options) throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>(List.of("run", name));
    arguments.addAll(options);
    try (NicDouble each = nics.get()) {
      Ended run = run(each, arguments);
      for (int again = 1;
          again < TRIES && run.code() != 0 && run.code() != THERE_IS_NO_SUCH;
          again++) {
        System.out.println(run.output());
        run = run(each, arguments);
      }
      Assumptions.assumeFalse(run.code() == THERE_IS_NO_SUCH, run.output());
      Assertions.assertEquals(0, run.code(), run.output());
      each.demandNoViolations();
    }
  }

  private Ended run(NicDouble on, List<String> arguments) throws IOException, InterruptedException {
    Path probes = on.program(program);
    // It is built where libfabric's headers are, which the tests of jofi need all the same.
    Assertions.assertTrue(Files.isExecutable(probes), "apt-get install libfabric-dev");
    return Ended.of(NewerLibrary.start(on, probes, arguments), BOUND_SECONDS);
  }
}
