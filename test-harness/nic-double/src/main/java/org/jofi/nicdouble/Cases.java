package org.jofi.nicdouble;

import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DynamicTest;

/** The devices as programs in C see them: each case of a double's program, in its own process. */
public final class Cases {
  private static final String PROGRAM = "verbs-cases";
  private static final long BOUND_SECONDS = 60;

  private Cases() {}

  /**
   * A test for each. What a case breaks is its own matter: many of them break rules, to see that it
   * is noticed.
   *
   * @param nics makes the devices of one process
   */
  public static Stream<DynamicTest> of(Supplier<? extends NicDouble> nics)
      throws IOException, InterruptedException {
    Ended list = run(nics, "list");
    Assertions.assertEquals(0, list.code(), list::output);
    List<String> names = list.output().lines().toList();
    Assertions.assertFalse(names.isEmpty(), "there are no cases");
    return names.stream().map(name -> DynamicTest.dynamicTest(name, () -> passes(nics, name)));
  }

  private static void passes(Supplier<? extends NicDouble> nics, String name)
      throws IOException, InterruptedException {
    Ended run = run(nics, "run", name);
    Assertions.assertEquals(0, run.code(), run::output);
  }

  private static Ended run(Supplier<? extends NicDouble> nics, String... arguments)
      throws IOException, InterruptedException {
    try (NicDouble each = nics.get()) {
      ProcessBuilder program = new ProcessBuilder(each.program(PROGRAM).toString());
      program.command().addAll(List.of(arguments));
      return Ended.of(each.on(program), BOUND_SECONDS);
    }
  }
}
