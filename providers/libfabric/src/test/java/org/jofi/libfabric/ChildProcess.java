package org.jofi.libfabric;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A process of its own for what a process does once, such as to load libfabric. */
final class ChildProcess {
  private static final long BOUND_SECONDS = 60;

  private ChildProcess() {}

  /** What it printed, on both streams, and ended with. */
  record Outcome(int code, String text) {}

  /**
   * Runs a main class of the tests to its end.
   *
   * @param folder for its output
   * @param library what {@code jofi.libfabric} is set to
   * @param environment what is added
   * @param arguments of the program
   */
  static Outcome run(
      Path folder,
      Class<?> main,
      String library,
      Map<String, String> environment,
      List<String> arguments)
      throws IOException, InterruptedException {
    String java = System.getProperty("jofi.test.java", "");
    ProcessBuilder builder =
        new ProcessBuilder(
            java.isEmpty() ? Path.of(System.getProperty("java.home"), "bin/java").toString() : java,
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            "-Djofi.libfabric=" + library,
            "-cp",
            System.getProperty("java.class.path"),
            main.getName());
    builder.command().addAll(arguments);
    builder.environment().putAll(environment);
    Path output = Files.createTempFile(folder, "output", ".txt");
    Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("it hangs: " + builder.command());
    }
    return new Outcome(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
  }
}
