package org.jofi.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a run of this project consists of. */
class PlanTest {
  /** Tests run in the module's folder. */
  private static final Path PROJECT = Path.of("").toAbsolutePath().getParent().getParent();

  private static List<Pass> plan(String... words) throws IOException {
    return planOf(PROJECT, words);
  }

  private static List<Pass> planOf(Path project, String... words) throws IOException {
    return Plan.of(
        RunOptions.of(
            Stream.concat(Stream.of("--root=" + project), Stream.of(words))
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
    assertTrue(pass.jvmOptions().contains("-Djofi.seeds=700"), pass.jvmOptions()::toString);
  }

  /** In a project with this one's pom and a module of its own, since another may not be built. */
  @Test
  void theSecondLibraryIsForModulesThatMeetIt(@TempDir Path project) throws Exception {
    assertEquals(1, plan("org.jofi.runner.PlanTest", "--libfabric-2.1=/b").size());
    Files.copy(PROJECT.resolve("pom.xml"), project.resolve("pom.xml"));
    Path module = Files.createDirectories(project.resolve("providers/meets"));
    Files.writeString(
        module.resolve("pom.xml"),
        """
        <project>
          <artifactId>jofi-meets</artifactId>
          <properties>
            <jofi.libfabric-2.1.skip>false</jofi.libfabric-2.1.skip>
            <jofi.libfabric-2.1.short.skip>false</jofi.libfabric-2.1.short.skip>
          </properties>
        </project>
        """);
    Path tests = Files.createDirectories(module.resolve("src/test/java/a"));
    Files.writeString(tests.resolve("MeetingTest.java"), "");
    Path target = Files.createDirectories(module.resolve("target"));
    Files.writeString(target.resolve("test-class-path.txt"), "");

    List<Pass> passes = planOf(project, "--libfabric-2.1=/b");
    assertEquals(2, passes.size());
    Pass second = passes.getLast();
    assertEquals("providers/meets:libfabric-2.1", second.key());
    assertEquals(Path.of("/b/jdk/bin/java"), second.java());
    assertEquals(List.of("libfabric-2.1"), second.included());
    assertTrue(
        second.jvmOptions().contains("-Djofi.libfabric=/b/lib/libfabric.so.1"),
        second.jvmOptions()::toString);
    assertEquals(List.of(), planOf(project, "--libfabric-2.1=/b", "--all").getLast().included());
  }
}
