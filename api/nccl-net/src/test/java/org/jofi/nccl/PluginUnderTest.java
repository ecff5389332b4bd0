package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jofi.nccl.layout.PluginFolder;

/** The plugin's folder, and a C program that uses it as NCCL does. */
final class PluginUnderTest {
  /** What a run printed and ended with. */
  record Run(int code, String out, String err) {}

  private static final long COMPILE_SECONDS = 120;

  /**
   * The runs are over before HotSpot's second compiler pays. That a call of native code is denied
   * to who may not is the tests' affair alone: the JVM would merely warn.
   */
  static final String JVM_OPTIONS = "-XX:TieredStopAtLevel=1 --illegal-native-access=deny";

  /** More than the driver gives itself. */
  private static final long RUN_SECONDS = 430;

  private static final String LIBFABRIC = System.getProperty("jofi.libfabric", "");

  /** A dynamic linker to start programs with, its C library in lib beside it; empty: the usual. */
  private static final String LOADER = System.getProperty("jofi.test.loader", "");

  private final Path scratch;
  private final Path driver;
  private final Path library;

  /**
   * Compiles the driver, and lays out a folder without a Java runtime.
   *
   * @param scratch an empty folder
   */
  PluginUnderTest(Path scratch) throws IOException, InterruptedException {
    this.scratch = scratch;
    requireGcc();
    driver = scratch.resolve("driver");
    List<String> command =
        new ArrayList<>(List.of("gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"));
    try (Stream<Path> sources = Files.list(Path.of("src/test/c"))) {
      sources
          .map(Path::toString)
          .filter(source -> source.endsWith(".c"))
          .sorted()
          .forEach(command::add);
    }
    command.addAll(List.of("-o", driver.toString(), "-ldl", "-lpthread"));
    Run gcc = start(command, Map.of(), COMPILE_SECONDS);
    assertTrue(gcc.code() == 0, gcc::err);
    Path folder = scratch.resolve("plugin");
    folder(folder);
    library = folder.resolve(PluginFolder.LIBRARY);
  }

  /** The library in its folder. */
  Path library() {
    return library;
  }

  /**
   * What the plugin needs, and as little as shows that nothing is disturbed by it.
   *
   * @param more names of variables, each with its value behind it
   */
  static Map<String, String> environment(String provider, String... more) {
    Map<String, String> environment = new HashMap<>();
    environment.put("JOFI_JAVA_HOME", javaHome().toString());
    environment.put("JOFI_PROVIDER", provider);
    environment.put("JOFI_WARM_UP", "0.1");
    environment.put("JOFI_JVM_OPTS", JVM_OPTIONS);
    for (int name = 0; name < more.length; name += 2) {
      environment.put(more[name], more[name + 1]);
    }
    return environment;
  }

  static boolean isOnTheSystemsLibfabric() {
    return LIBFABRIC.isEmpty();
  }

  /** Runs the driver with the library, and demands that all went well. */
  Run good(Map<String, String> environment, int version, String scenario)
      throws IOException, InterruptedException {
    Run run = drive(environment, library.toString(), version, scenario);
    assertEquals(0, run.code(), () -> run.out() + run.err());
    return run;
  }

  private static void requireGcc() {
    boolean possible =
        Stream.of(System.getenv("PATH").split(File.pathSeparator))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "gcc")));
    if (!possible && "true".equals(System.getenv("CI"))) {
      fail("needs gcc");
    }
    assumeTrue(possible, "needs gcc and libc6-dev: apt-get install gcc libc6-dev");
  }

  /** The jars and class folders that this test runs with; not those of the tests. */
  static List<Path> modulePath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .map(Path::of)
        .filter(Files::exists)
        .filter(path -> path.toString().endsWith(".jar") || !path.endsWith("test-classes"))
        .filter(
            path ->
                !path.getFileName()
                    .toString()
                    .matches("(junit|surefire|maven|apiguardian|opentest4j).*"))
        .toList();
  }

  /** The Java that plugins under test run on. */
  static Path javaHome() {
    return Path.of(System.getProperty("java.home"));
  }

  /** Lays out a folder without a Java runtime. */
  PluginFolder folder(Path folder) {
    return PluginFolder.create(folder, modulePath());
  }

  /**
   * Runs the driver.
   *
   * @param environment beyond PATH; nothing else is passed on
   */
  Run drive(Map<String, String> environment, String plugin, int version, String scenario)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    if (!LOADER.isEmpty()) {
      // It takes LD_LIBRARY_PATH for less than this.
      Path libraries = Path.of(LOADER).resolveSibling("lib");
      String path = environment.getOrDefault("LD_LIBRARY_PATH", "") + ":" + libraries;
      command.addAll(List.of(LOADER, "--library-path", path));
    }
    command.addAll(List.of(driver.toString(), plugin, Integer.toString(version), scenario));
    return start(command, environment, RUN_SECONDS);
  }

  /**
   * Runs a program.
   *
   * @param environment beyond PATH; nothing else is passed on
   */
  Run run(List<String> command, Map<String, String> environment)
      throws IOException, InterruptedException {
    return start(command, environment, RUN_SECONDS);
  }

  private Run start(List<String> command, Map<String, String> environment, long seconds)
      throws IOException, InterruptedException {
    Path out = Files.createTempFile(scratch, "out", ".txt");
    Path err = Files.createTempFile(scratch, "err", ".txt");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().keySet().retainAll(List.of("PATH"));
    if (!LIBFABRIC.isEmpty()) {
      builder.environment().put("JOFI_LIBFABRIC", LIBFABRIC);
    }
    builder.environment().putAll(environment);
    Process process = builder.start();
    if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      fail("hangs: " + command);
    }
    return new Run(
        process.exitValue(),
        Files.readString(out, StandardCharsets.UTF_8),
        Files.readString(err, StandardCharsets.UTF_8));
  }
}
