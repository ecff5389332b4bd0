package org.jofi.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The command in a process of its own: libfabric reads its environment once. */
final class CommandProcess {
  private static final long BOUND_SECONDS = 60;

  /** What came out of it. */
  record Outcome(int code, String out, String err) {}

  private CommandProcess() {}

  static Outcome run(Path folder, Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    String java = System.getProperty("jofi.test.java", "");
    List<String> command = new ArrayList<>();
    command.add(
        java.isEmpty() ? Path.of(System.getProperty("java.home"), "bin/java").toString() : java);
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-Djofi.libfabric=" + System.getProperty("jofi.libfabric", ""));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Jofi.class.getName()));
    command.addAll(List.of(arguments));
    Path out = Files.createTempFile(folder, "out", ".txt");
    Path err = Files.createTempFile(folder, "err", ".txt");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().putAll(environment);
    Process process = builder.start();
    if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("hangs: " + String.join(" ", arguments));
    }
    return new Outcome(
        process.exitValue(),
        Files.readString(out, StandardCharsets.UTF_8),
        Files.readString(err, StandardCharsets.UTF_8));
  }
}
