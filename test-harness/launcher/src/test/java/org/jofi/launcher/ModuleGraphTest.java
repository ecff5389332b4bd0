package org.jofi.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Starts the real program as its users do: as modules, with native access denied to all but the
 * provider.
 */
class ModuleGraphTest {
  private static final Path MODULES =
      LauncherTree.PROJECT.resolve("test-harness/cli/target/modules");

  @TempDir private Path folder;

  @Test
  void everyModuleOfTheProgramResolves() throws Exception {
    requireModules();
    List<String> lines = start("--show-module-resolution", "info");

    for (String module :
        List.of(
            "org.jofi.cli",
            "org.jofi.rdma",
            "org.jofi.mr",
            "org.jofi.transport",
            "org.jofi.libfabric")) {
      assertTrue(
          lines.stream().anyMatch(line -> line.startsWith("root " + module + " file:")),
          () -> module + " is not on the module path:\n" + String.join("\n", lines));
    }
    assertTrue(
        lines.stream().noneMatch(line -> line.contains("WARNING")), () -> String.join("\n", lines));
  }

  /** Ranks are processes of their own, on the same modules with the same rights. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "allreduce --provider shm --ranks 2 --bytes 4,64K --iterations 2 --prepare 0.1",
        "perf -b 64 -e 64K -f 1024 -n 20 -w 2 --prepare 0.1",
      })
  void ranksRunOnTheSameModules(String command) throws Exception {
    requireModules();
    List<String> lines = start("", command.split(" "));
    assertTrue(
        lines.stream().anyMatch(line -> line.matches(" +64 KiB .* 0( +2/2)?")),
        () -> String.join("\n", lines));
    assertTrue(
        lines.stream().noneMatch(line -> line.contains("WARNING")), () -> String.join("\n", lines));
  }

  /** A program sees what a user's program would: the modules' exports, and no more. */
  @Test
  void aProgramRunsFromItsSource() throws Exception {
    requireModules();
    String example = LauncherTree.PROJECT.resolve("examples/HaloExchange.java").toString();
    assertEquals(
        List.of("100 steps of 128 rows by 2 ranks: every cell as by one"),
        start("", "run", example, "net"));
  }

  /** Whatever a program may use is meant for programs. */
  @Test
  void onlyWhatIsPublicIsExportedToAll() {
    requireModules();
    Map<String, Set<String>> open =
        ModuleFinder.of(MODULES).findAll().stream()
            .map(ModuleReference::descriptor)
            .filter(module -> module.name().startsWith("org.jofi."))
            .collect(Collectors.toMap(ModuleDescriptor::name, ModuleGraphTest::exportedToAll));
    assertEquals(
        Set.of("org.jofi.counters", "org.jofi.fabric", "org.jofi.transport"),
        open.remove("org.jofi.transport"));
    assertEquals(Set.of("org.jofi.async"), open.remove("org.jofi.async"));
    assertEquals(
        Set.of("org.jofi.collectives", "org.jofi.collectives.schedule", "org.jofi.ranks"),
        open.remove("org.jofi.collectives"));
    assertTrue(open.remove("org.jofi.conformance").contains("org.jofi.conformance.rule"));
    assertTrue(open.remove("org.jofi.simulated").contains("org.jofi.simulated.profile"));
    assertTrue(open.keySet().containsAll(Set.of("org.jofi.rdma", "org.jofi.mr")), open::toString);
    open.forEach((module, packages) -> assertEquals(Set.of(), packages, module));
  }

  private static Set<String> exportedToAll(ModuleDescriptor module) {
    return module.exports().stream()
        .filter(each -> !each.isQualified())
        .map(ModuleDescriptor.Exports::source)
        .collect(Collectors.toSet());
  }

  static void requireModules() {
    if (!Files.isDirectory(MODULES)) {
      String text = "the program is laid out in Maven's package phase only: run mvn verify";
      if ("true".equals(System.getenv("CI"))) {
        fail(text);
      }
      assumeTrue(false, text);
    }
  }

  private List<String> start(String javaOptions, String... arguments)
      throws IOException, InterruptedException {
    Path output = folder.resolve("output");
    List<String> command = new ArrayList<>();
    command.add(LauncherTree.PROJECT.resolve("jofi").toString());
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("JOFI_NO_BUILD", "1");
    // Over before more would pay; the ranks that it starts take its options over.
    builder
        .environment()
        .put("JOFI_JAVA_OPTS", javaOptions + " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
    Process process = builder.start();
    if (!process.waitFor(180, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      fail("the program did not end");
    }
    List<String> lines = Files.readAllLines(output);
    assertEquals(0, process.exitValue(), () -> String.join("\n", lines));
    return lines;
  }
}
