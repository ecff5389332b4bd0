package org.jofi.cli.soak;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs commands of the machine, such as {@code ip}; each within a bound. */
public final class MachineCommand {
  private static final long WITHIN_SECONDS = 20;

  private MachineCommand() {}

  /**
   * Runs a command, whose words hold no spaces; what it said.
   *
   * @throws IllegalStateException if it fails; the message has the command and what it said
   */
  public static String run(String command) {
    return run(List.of(command.split(" ")));
  }

  /**
   * Runs a command; what it said.
   *
   * @throws IllegalStateException if it fails; the message has the command and what it said
   */
  static String run(List<String> words) {
    String command = String.join(" ", words);
    try {
      Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
      process.getOutputStream().close();
      // It says little, so that the pipe takes all of it while this waits.
      if (!process.waitFor(WITHIN_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IllegalStateException(
            "%s did not end within %d s".formatted(command, WITHIN_SECONDS));
      }
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.exitValue() != 0) {
        throw new IllegalStateException("%s: %s".formatted(command, said.strip()));
      }
      return said;
    } catch (IOException e) {
      throw new IllegalStateException("%s: %s".formatted(command, e.getMessage()), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted in " + command, e);
    }
  }
}
