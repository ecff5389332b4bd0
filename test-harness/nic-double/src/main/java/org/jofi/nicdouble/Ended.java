package org.jofi.nicdouble;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A process that has ended, and what it printed.
 *
 * @param code its exit code
 * @param output what it wrote to standard output and standard error
 */
public record Ended(int code, String output) {
  /**
   * Starts it, and waits for its end within a bound.
   *
   * @param seconds after which it is ended by force
   * @throws AssertionError if it did not end by itself, with what it printed
   * @throws IOException if it cannot be started
   * @throws InterruptedException if the wait was interrupted
   */
  public static Ended of(ProcessBuilder builder, long seconds)
      throws IOException, InterruptedException {
    Path output = Files.createTempFile("nic-double", ".out");
    try {
      Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
      boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
      if (!ended) {
        process.destroyForcibly().waitFor();
      }
      String said = Files.readString(output, StandardCharsets.UTF_8);
      if (!ended) {
        throw new AssertionError("%s hangs:%n%s".formatted(builder.command(), said));
      }
      return new Ended(process.exitValue(), said);
    } finally {
      Files.delete(output);
    }
  }
}
