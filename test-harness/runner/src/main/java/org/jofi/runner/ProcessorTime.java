package org.jofi.runner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The processor time of a process and of those of its children, grandchildren too, that ended. */
final class ProcessorTime {
  /** Fields of proc(5)'s stat behind the name, which ends at the last parenthesis. */
  private static final int USER = 11;

  private static final int CHILDREN_SYSTEM = 14;

  /** USER_HZ, which is 100 on every Linux that Java runs on. */
  private static final long NANOS_PER_TICK = 10_000_000;

  private final Path stat;

  private ProcessorTime(Path stat) {
    this.stat = stat;
  }

  static ProcessorTime ofThisProcess() {
    return new ProcessorTime(Path.of("/proc/self/stat"));
  }

  /** User and system time in ns. */
  long nanos() {
    try {
      String line = Files.readString(stat);
      String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
      long ticks = 0;
      for (int i = USER; i <= CHILDREN_SYSTEM; i++) {
        ticks += Long.parseLong(fields[i]);
      }
      return ticks * NANOS_PER_TICK;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
