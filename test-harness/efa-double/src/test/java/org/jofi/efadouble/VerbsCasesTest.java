package org.jofi.efadouble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The devices as programs in C see them: each case of verbs-cases, in a process of its own. */
class VerbsCasesTest {
  private static final long BOUND_SECONDS = 60;

  @TestFactory
  Stream<DynamicTest> cases() throws IOException, InterruptedException {
    List<String> names;
    try (EfaDouble efa = EfaDouble.devices(1)) {
      Ended list = run(efa, "list");
      assertEquals(0, list.code(), list::output);
      names = list.output().lines().toList();
    }
    assertFalse(names.isEmpty(), "there are no cases");
    return names.stream().map(name -> DynamicTest.dynamicTest(name, () -> passes(name)));
  }

  /** What a case breaks is its own matter: many of them break rules, to see that it is noticed. */
  private static void passes(String name) throws IOException, InterruptedException {
    try (EfaDouble efa = EfaDouble.devices(1)) {
      Ended run = run(efa, "run", name);
      assertEquals(0, run.code(), run::output);
    }
  }

  private static Ended run(EfaDouble efa, String... arguments)
      throws IOException, InterruptedException {
    ProcessBuilder program = new ProcessBuilder(efa.program("verbs-cases").toString());
    program.command().addAll(List.of(arguments));
    return Ended.of(efa.on(program), BOUND_SECONDS);
  }
}
