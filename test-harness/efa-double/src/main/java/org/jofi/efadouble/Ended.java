package org.jofi.efadouble;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A process that has ended, and what it printed. */
record Ended(int code, String output) {
  /** Starts it, and waits for its end within a bound. */
  static Ended of(ProcessBuilder builder, long seconds) throws IOException, InterruptedException {
    Path output = Files.createTempFile("efa-double", ".out");
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
