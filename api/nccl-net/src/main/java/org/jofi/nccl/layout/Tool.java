package org.jofi.nccl.layout;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Runs programs of the system. */
final class Tool {
  private static final long BOUND_SECONDS = 300;

  private Tool() {}

  /**
   * Runs a program and waits until it ends.
   *
   * @return its output
   * @throws PluginFolderException if it fails, with its output, or does not end in time
   */
  static String run(List<String> command) {
    return run(new ProcessBuilder(command));
  }

  /**
   * The same in a folder, and with an environment of its own, but for PATH.
   *
   * @see #run(List)
   */
  static String run(List<String> command, Path folder, Map<String, String> environment) {
    ProcessBuilder program = new ProcessBuilder(command).directory(folder.toFile());
    program.environment().keySet().retainAll(Set.of("PATH"));
    program.environment().putAll(environment);
    return run(program);
  }

  private static String run(ProcessBuilder program) {
    List<String> command = program.command();
    try {
      Path output = Files.createTempFile("jofi-tool", ".txt");
      try {
        Process process = program.redirectErrorStream(true).redirectOutput(output.toFile()).start();
        if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
          process.destroyForcibly();
          throw PluginFolderException.failed(
              "%s did not end within %d s".formatted(command.getFirst(), BOUND_SECONDS), null);
        }
        String printed = Files.readString(output, StandardCharsets.UTF_8);
        if (process.exitValue() != 0) {
          throw PluginFolderException.failed(
              "%s failed: %s".formatted(String.join(" ", command), printed.strip()), null);
        }
        return printed;
      } finally {
        Files.delete(output);
      }
    } catch (IOException failed) {
      throw PluginFolderException.failed(
          "cannot run %s: %s".formatted(command.getFirst(), failed.getMessage()), failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw PluginFolderException.failed(
          "interrupted while %s ran".formatted(command.getFirst()), interrupted);
    }
  }
}
