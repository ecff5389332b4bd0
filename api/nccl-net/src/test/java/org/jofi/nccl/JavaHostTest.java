package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jofi.nccl.PluginUnderTest.Run;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The plugin in programs that have a JVM of their own, on whose class path jofi is not. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.CONCURRENT)
class JavaHostTest {
  private static final String FLAG = "--enable-native-access=ALL-UNNAMED";

  private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"([0-9]+)");

  private static final int NEEDED = 25;

  private Path scratch;
  private PluginUnderTest plugin;

  @BeforeAll
  void layOut(@TempDir Path folderForAll) throws IOException, InterruptedException {
    scratch = folderForAll;
    plugin = new PluginUnderTest(scratch);
  }

  private Run host(List<String> options, String... arguments) throws Exception {
    assumeTrue(PluginUnderTest.isOnTheSystemsLibfabric(), "any libfabric will do for this");
    List<String> command = new ArrayList<>();
    command.add(PluginUnderTest.javaHome().resolve("bin/java").toString());
    command.addAll(options);
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xmx256m", "-cp"));
    command.add(Path.of("target", "test-classes").toAbsolutePath().toString());
    command.addAll(List.of("org.jofi.nccl.JavaHost", plugin.library().toString()));
    command.addAll(List.of(arguments));
    return plugin.run(command, Map.of("JOFI_PROVIDER", "tcp", "JOFI_WARM_UP", "0"));
  }

  @Test
  void aProgramInJavaTransfersWithOneFlag() throws Exception {
    Run run = host(List.of("--illegal-native-access=deny", FLAG));

    assertEquals(0, run.code(), () -> run.out() + run.err());
    assertTrue(run.out().contains("transferred"), run::out);
    assertFalse(run.err().contains("WARNING"), run::err);
  }

  /** Java 25 merely warns, by its own words. What is left open keeps no program from its end. */
  @Test
  @Tag("long")
  void withoutItTheJvmWarns() throws Exception {
    Run run = host(List.of(), "exit");

    assertEquals(0, run.code(), () -> run.out() + run.err());
    assertTrue(run.out().contains("transferred"), run::out);
    assertTrue(run.err().contains(FLAG), run::err);
  }

  private String refusal(Path javaHome, String options) throws Exception {
    Map<String, String> environment =
        Map.of("HOST_JAVA_HOME", javaHome.toString(), "HOST_JVM_OPTIONS", options);
    Run run = plugin.drive(environment, plugin.library().toString(), 11, "refused-in-jvm");
    assertEquals(0, run.code(), () -> run.out() + run.err());
    return run.out();
  }

  @Test
  void aJvmThatDeniesNativeAccessMakesInitNameTheFlag() throws Exception {
    String text = refusal(PluginUnderTest.javaHome(), "--illegal-native-access=deny");

    assertTrue(text.contains("Start the program with " + FLAG), text);
  }

  /** Its modules have names there. */
  @Test
  @Tag("long")
  void amongTheProgramsModulesItNamesTheOptionsOfTheFolder() throws Exception {
    String options =
        "--illegal-native-access=deny --add-modules=ALL-MODULE-PATH --module-path=%s"
            .formatted(plugin.library().resolveSibling("modules"));
    String text = refusal(PluginUnderTest.javaHome(), options);

    assertTrue(
        text.contains("the options in " + plugin.library().resolveSibling("jvm.options")), text);
  }

  @Test
  void anOlderJvmIsToldWhichOneIsNeeded() throws Exception {
    Optional<Path> older = olderJava();
    assumeTrue(older.isPresent(), "needs a Java older than 25 beside the one that runs this");
    String text = refusal(older.orElseThrow(), "-Xshare:auto");

    assertTrue(text.contains("it is a Java " + version(older.orElseThrow())), text);
    assertTrue(text.contains("Start the program with a JDK 25"), text);
    assertFalse(text.contains("UnsupportedClassVersionError"), text);
  }

  private static Optional<Path> olderJava() throws IOException {
    try (Stream<Path> beside = Files.list(PluginUnderTest.javaHome().resolveSibling("."))) {
      return beside
          .filter(home -> Files.isReadable(home.resolve("lib/server/libjvm.so")))
          .filter(home -> version(home) > 0 && version(home) < NEEDED)
          .findFirst();
    }
  }

  /** Its feature version; 0 if it does not tell. */
  private static int version(Path home) {
    try {
      Matcher found = VERSION.matcher(Files.readString(home.resolve("release")));
      return found.find() ? Integer.parseInt(found.group(1)) : 0;
    } catch (IOException absent) {
      return 0;
    }
  }
}
