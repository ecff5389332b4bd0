package org.jofi.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a run of this project consists of. */
class PlanTest {
  /** Tests run in the module's folder. */
  private static final Path PROJECT = Path.of("").toAbsolutePath().getParent().getParent();

  private static List<Pass> plan(String... words) throws IOException {
    return Plan.of(
        RunOptions.of(
            Stream.concat(Stream.of("--root=" + PROJECT), Stream.of(words))
                .toArray(String[]::new)));
  }

  @Test
  void aClassRunsInItsModuleWithWhatThePomsSay() throws Exception {
    List<Pass> passes = plan("org.jofi.runner.PlanTest#aMethod", "-Djofi.seeds=7");
    assertEquals(1, passes.size());
    Pass pass = passes.getFirst();
    assertEquals("test-harness/runner", pass.name());
    assertEquals("aMethod", pass.classes().getFirst().method().orElseThrow());
    assertEquals(List.of("long"), pass.excluded());
    assertEquals(List.of(), pass.included());
    assertTrue(pass.jvmOptions().contains("-Djofi.seeds=7"), pass.jvmOptions()::toString);
    assertTrue(
        pass.jvmOptions().contains("--enable-native-access=ALL-UNNAMED"),
        pass.jvmOptions()::toString);
    assertTrue(
        pass.parameters().contains("junit.jupiter.execution.parallel.enabled=true"),
        pass.parameters()::toString);
    Path target = PROJECT.resolve("test-harness/runner/target");
    assertEquals(target, pass.jars().getFirst().getParent());
    assertEquals(target.resolve("test-classes"), pass.tests());
  }

  @Test
  void theFullRunLeavesNothingOutAndTakesMore() throws Exception {
    Pass pass = plan("org.jofi.runner.PlanTest", "--all").getFirst();
    assertEquals(List.of(), pass.excluded());
    assertTrue(pass.jvmOptions().contains("-Djofi.seeds=1000"), pass.jvmOptions()::toString);
  }

  @Test
  void theSecondLibraryIsForModulesThatMeetIt() throws Exception {
    assertEquals(1, plan("org.jofi.runner.PlanTest", "--libfabric-2.1=/b").size());
    String other = "org.jofi.libfabric.bindings.LibfabricHeadersTest";
    List<Pass> passes = plan(other, "--libfabric-2.1=/b");
    assertEquals(2, passes.size());
    Pass second = passes.getLast();
    assertEquals("providers/libfabric-bindings:libfabric-2.1", second.key());
    assertEquals(Path.of("/b/jdk/bin/java"), second.java());
    assertEquals(List.of("libfabric-2.1"), second.included());
    assertTrue(
        second.jvmOptions().contains("-Djofi.libfabric=/b/lib/libfabric.so.1"),
        second.jvmOptions()::toString);
    assertEquals(List.of(), plan(other, "--libfabric-2.1=/b", "--all").getLast().included());
  }
}
