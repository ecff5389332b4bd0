package org.jofi.cli.stat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.jofi.counters.CountedError;
import org.jofi.counters.Counter;
import org.jofi.counters.Counters;

/**
 * What was read from a file of counters at one time.
 *
 * @param file which
 * @param state how its process is doing
 * @param pid its process
 * @param started when that started
 * @param heartbeat when it was alive last
 * @param jofi the version that it runs
 * @param fabric the library below
 * @param counters all of them
 * @param errors what failed
 * @param readNanos when it was read, by {@link System#nanoTime}
 */
public record ProcessCounters(
    Path file,
    Counters.ProcessState state,
    long pid,
    Instant started,
    Instant heartbeat,
    String jofi,
    String fabric,
    List<Counter> counters,
    List<CountedError> errors,
    long readNanos) {

  /**
   * Reads a file.
   *
   * @throws IOException if it is gone, or cannot be read or understood
   */
  public static ProcessCounters read(Path file) throws IOException {
    try (Counters counters = Counters.attach(file)) {
      return new ProcessCounters(
          file,
          counters.state(),
          counters.pid(),
          counters.started(),
          counters.heartbeat(),
          counters.jofi(),
          counters.fabric(),
          counters.list(),
          counters.errors(),
          System.nanoTime());
    }
  }
}
