package org.jofi.libfabric;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A process, identified by its id and its start time in clock ticks (proc(5), /proc/PID/stat),
 * because process ids are reused.
 */
record ProcessLife(int pid, long startTicks) {
  private static final int STATE = 0;

  /**
   * Index of the start time, field 22 in proc(5), in a list that begins after the name, with field
   * 3.
   */
  private static final int START = 19;

  /** The process that has this id now; null if none is visible here. */
  static @Nullable ProcessLife now(int pid) {
    try {
      return new ProcessLife(pid, Long.parseLong(fields(pid)[START]));
    } catch (IOException notSeen) {
      return null;
    }
  }

  /**
   * Whether the process has ended. A zombie counts as ended. If its state cannot be read, for
   * example because no file descriptor is free, it counts as alive.
   */
  boolean isOver() {
    try {
      String[] fields = fields(pid);
      return fields[STATE].equals("Z")
          || fields[STATE].equals("X")
          || Long.parseLong(fields[START]) != startTicks;
    } catch (NoSuchFileException gone) {
      return true;
    } catch (IOException unknown) {
      return false;
    }
  }

  /** The fields after the name. The name itself may contain blanks, parentheses and any bytes. */
  private static String[] fields(int pid) throws IOException {
    Path file = Path.of("/proc", Integer.toString(pid), "stat");
    String line = Files.readString(file, StandardCharsets.ISO_8859_1);
    String[] fields = line.substring(line.lastIndexOf(')') + 1).trim().split(" ");
    if (fields.length <= START) {
      throw new IOException(file + ": " + line);
    }
    return fields;
  }
}
