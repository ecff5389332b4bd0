package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jofi.nccl.PluginUnderTest.Run;
import org.jofi.nccl.layout.PluginFolder;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How the plugin is found and started: where it lies, the variables and options that it is given,
 * and what it says where it cannot start.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.CONCURRENT)
class StartTest {
  private Path scratch;
  private PluginUnderTest plugin;

  @BeforeAll
  void layOut(@TempDir Path folderForAll) throws IOException, InterruptedException {
    scratch = folderForAll;
    plugin = new PluginUnderTest(scratch);
  }

  /** NCCL looks for the name that it is told, for libnccl-net-NAME.so, or for libnccl-net.so. */
  @ParameterizedTest
  @ValueSource(strings = {"jofi", "libnccl-net.so"})
  void itIsFoundByName(String name) throws Exception {
    find(name);
  }

  @Test
  @Tag("long")
  void itIsFoundByItsLongName() throws Exception {
    find("libnccl-net-jofi.so");
  }

  private void find(String name) throws Exception {
    Run run =
        plugin.drive(
            PluginUnderTest.environment(
                "tcp", "LD_LIBRARY_PATH", plugin.library().getParent().toString()),
            name,
            11,
            "host-unchanged");
    assertEquals(0, run.code(), () -> run.out() + run.err());
  }

  private String refusal(Map<String, String> environment) throws Exception {
    Run run = plugin.good(environment, 11, "refused");
    return run.out();
  }

  @Test
  void withoutAJvmOneWarningSaysWhatWasLookedAt() throws Exception {
    String nowhere = scratch.resolve("nowhere").toString();
    String text = refusal(Map.of("JAVA_HOME", nowhere));

    assertTrue(text.contains("no JVM found"), text);
    assertTrue(text.contains("JOFI_JAVA_HOME: not set"), text);
    assertTrue(text.contains(nowhere), text);
  }

  @Test
  void anOptionThatTheJvmDoesNotKnowIsNamed() throws Exception {
    String text = refusal(PluginUnderTest.environment("tcp", "JOFI_JVM_OPTS", "-XX:+NoSuchOption"));

    assertTrue(text.contains("NoSuchOption"), text);
  }

  /** Left alone, the JVM would end the process. */
  @Test
  void aHeapThatDoesNotFitIsARefusalAndNotTheEnd() throws Exception {
    String text = refusal(PluginUnderTest.environment("tcp", "JOFI_JVM_OPTS", "-Xmx90000g"));

    assertTrue(text.contains("JOFI_JVM_OPTS"), text);
  }

  @Test
  void aLimitOnThreadsIsNamedWhenTheJvmMeetsIt() throws Exception {
    Path group = groupOfProcesses(8);
    try {
      String text = refusal(PluginUnderTest.environment("tcp", "GROUP", group.toString()));
      assertTrue(text.contains("raise the limit of this user (ulimit -u)"), text);
      assertTrue(text.contains("(pids.max)"), text);
    } finally {
      Files.delete(group);
    }
  }

  /** A control group of its own, of either version. */
  private static Path groupOfProcesses(int most) throws IOException {
    String name = "jofi-plugin-" + ProcessHandle.current().pid();
    for (String root : List.of("/sys/fs/cgroup/pids", "/sys/fs/cgroup")) {
      Path group = Path.of(root, name);
      try {
        Files.createDirectory(group);
      } catch (IOException e) {
        continue;
      }
      try {
        Files.writeString(group.resolve("pids.max"), Integer.toString(most));
        return group;
      } catch (IOException e) {
        Files.delete(group);
      }
    }
    return abort("no control group of pids can be made here");
  }

  @Test
  void aVariableThatIsWrongIsNamed() throws Exception {
    String text = refusal(PluginUnderTest.environment("tcp", "JOFI_MAX_RAILS", "many"));

    assertTrue(text.contains("JOFI_MAX_RAILS='many'"), text);
  }

  @Test
  void aProviderThatIsNotThereIsNamed() throws Exception {
    String text = refusal(PluginUnderTest.environment("carrierpigeon"));

    assertTrue(text.contains("carrierpigeon"), text);
  }

  @Test
  void withoutItsJarsItSaysWhereTheyBelong() throws Exception {
    Path bare = Files.createDirectories(scratch.resolve("bare"));
    Files.copy(plugin.library(), bare.resolve(PluginFolder.LIBRARY));
    Run run =
        plugin.drive(
            PluginUnderTest.environment("tcp"),
            bare.resolve(PluginFolder.LIBRARY).toString(),
            11,
            "refused");

    assertEquals(0, run.code(), () -> run.out() + run.err());
    assertTrue(run.out().contains("Copy the whole plugin folder"), run::out);
  }

  @Test
  void optionsOfTheUserHold() throws Exception {
    optionsOfTheUserHold("-XX:+UseZGC -Xmx512m");
  }

  /** They are for all JVMs of a site. A collector that is chosen there is the plugin's, too. */
  @Test
  void optionsForAllJvmsHold() throws Exception {
    optionsForAllJvmsHold("-XX:MaxGCPauseMillis=50", "Serial");
  }

  @ParameterizedTest
  @CsvSource("-XX:+UseG1GC, G1")
  @Tag("long")
  void optionsForAllJvmsHold(String options, String collector) throws Exception {
    Path log = Files.createTempFile(scratch, "gc", ".log");
    plugin.good(
        PluginUnderTest.environment(
            "tcp", "JAVA_TOOL_OPTIONS", options, "JOFI_JVM_OPTS", "-Xlog:gc:" + log),
        11,
        "host-unchanged");
    String text = Files.readString(log, StandardCharsets.UTF_8);
    assertTrue(text.contains("Using " + collector), text);
  }

  @Test
  void optionsThatAreForAllJvmsAndDoNotFitAreNamed() throws Exception {
    String text =
        refusal(
            PluginUnderTest.environment(
                "tcp", "JAVA_TOOL_OPTIONS", "-XX:+UseG1GC", "JOFI_JVM_OPTS", "-XX:+UseParallelGC"));

    assertTrue(text.contains("JAVA_TOOL_OPTIONS='-XX:+UseG1GC'"), text);
  }

  @ParameterizedTest
  @ValueSource(strings = "-XX:+UseG1GC")
  @Tag("long")
  void optionsOfTheUserHold(String options) throws Exception {
    plugin.good(PluginUnderTest.environment("tcp", "JOFI_JVM_OPTS", options), 11, "groups");
  }
}
