package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jofi.cli.ranks.SharedMemory;

/** The command in a process of its own: libfabric reads its environment once. */
final class CommandProcess {
  private static final long BOUND_SECONDS = 150;

  private static final String MAIN = Jofi.class.getName();

  /** SIGABRT's exit code: how a JVM ends that crashed. */
  private static final int CRASHED = 128 + 6;

  static {
    // As the command's own main method does: ranks that are threads use this process's files.
    SharedMemory.clearAtEnd();
  }

  /** What came out of it. */
  record Outcome(int code, String out, String err) {
    /** Ranks that measure say below the head how long they prepared themselves. */
    void assertSaysThatItPrepared() {
      assertTrue(
          out.lines()
              .toList()
              .get(1)
              .matches("prepared with [1-9][0-9]* rounds in [0-9.]+ s, for the JIT compiler"),
          out);
    }
  }

  private CommandProcess() {}

  /**
   * The command in this very process: on libfabric as the environment of the tests has it, or on a
   * simulated fabric. It must start no ranks as processes, whose output would be this process's.
   */
  static Outcome runHere(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code =
        Jofi.commandLine(arguments)
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(arguments);
    CommandJson.check(List.of(arguments), out.toString());
    return new Outcome(code, out.toString(), err.toString());
  }

  static Outcome run(Path folder, Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    return run(folder, builder(environment, arguments));
  }

  static Outcome run(Path folder, ProcessBuilder builder) throws IOException, InterruptedException {
    return run(folder, builder, BOUND_SECONDS);
  }

  static Outcome run(Path folder, ProcessBuilder builder, long boundSeconds)
      throws IOException, InterruptedException {
    Path out = Files.createTempFile(folder, "out", ".txt");
    Path err = Files.createTempFile(folder, "err", ".txt");
    Process process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    if (!process.waitFor(boundSeconds, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError(
          "hangs: %s%n%s%s"
              .formatted(
                  String.join(" ", builder.command()),
                  Files.readString(out),
                  Files.readString(err)));
    }
    Outcome outcome =
        new Outcome(
            process.exitValue(),
            Files.readString(out, StandardCharsets.UTF_8),
            Files.readString(err, StandardCharsets.UTF_8));
    if (outcome.code() == CRASHED) {
      throw new AssertionError(
          "crashed: %s%n%s%s"
              .formatted(String.join(" ", builder.command()), outcome.err(), outcome.out()));
    }
    List<String> words = builder.command();
    int main = words.indexOf(MAIN);
    if (main >= 0) {
      CommandJson.check(words.subList(main + 1, words.size()), outcome.out());
    }
    return outcome;
  }

  /**
   * Commands one after another, in one process for all of them: where an environment decides, and
   * starting a JVM would take longer than each.
   *
   * @param commands words with spaces between
   * @return what came out of each
   */
  static List<Outcome> runInTurn(Path folder, Map<String, String> environment, String... commands)
      throws IOException, InterruptedException {
    ProcessBuilder builder = builder(environment, commands);
    builder.command().replaceAll(word -> word.equals(MAIN) ? CommandsInTurn.class.getName() : word);
    Outcome all = run(folder, builder);
    assertEquals(0, all.code(), all.err());
    List<Outcome> each = CommandsInTurn.outcomes(all.out());
    assertEquals(commands.length, each.size(), all.err());
    return each;
  }

  /** An environment in which the dynamic linker finds no libfabric that loads. */
  static Map<String, String> withoutLibfabric(Path folder) throws IOException {
    Path unusable = Files.createDirectories(folder.resolve("unusable"));
    Files.writeString(unusable.resolve("libfabric.so.1"), "no library\n".repeat(400));
    return Map.of("LD_LIBRARY_PATH", unusable.toString(), "JOFI_LIBFABRIC", "");
  }

  /** A program that is compiled in memory, as {@code jofi run} does it, not started yet. */
  static ProcessBuilder program(Map<String, String> environment, Path source, String... arguments) {
    ProcessBuilder builder = builder(environment, arguments);
    builder.command().replaceAll(word -> word.equals(MAIN) ? source.toString() : word);
    return builder;
  }

  /** The command, not started yet. */
  static ProcessBuilder builder(Map<String, String> environment, String... arguments) {
    String java = System.getProperty("jofi.test.java", "");
    List<String> command = new ArrayList<>();
    command.add(
        java.isEmpty() ? Path.of(System.getProperty("java.home"), "bin/java").toString() : java);
    command.add("-XX:+ErrorFileToStdout");
    // Over before more would pay; the ranks that it starts take its options over.
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-Djofi.libfabric=" + System.getProperty("jofi.libfabric", ""));
    command.add("-Djofi.java=" + java);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    return builder;
  }
}
