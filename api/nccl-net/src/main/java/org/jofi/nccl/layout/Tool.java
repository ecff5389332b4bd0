package org.jofi.nccl.layout;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
    try {
      Path output = Files.createTempFile("jofi-tool", ".txt");
      try {
        Process process =
            new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
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
