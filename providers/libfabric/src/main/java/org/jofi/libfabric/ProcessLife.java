package org.jofi.libfabric;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * One life of a process number: told from a later one by its start, in clock ticks (proc(5),
 * /proc/PID/stat).
 */
record ProcessLife(int pid, long startTicks) {
  private static final int STATE = 0;

  /** The field numbered 22 in proc(5), where the state, behind the name, is number 3. */
  private static final int START = 19;

  /** The life that this number has now; null if no such process is seen here. */
  static @Nullable ProcessLife now(int pid) {
    try {
      return new ProcessLife(pid, Long.parseLong(fields(pid)[START]));
    } catch (IOException notSeen) {
      return null;
    }
  }

  /**
   * Whether it is over. A process that nobody has waited for yet is dead all the same; one of which
   * nothing can be found out, such as for want of a file descriptor, is not held for dead.
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

  /** The fields behind the name, which may have blanks, parentheses and any bytes itself. */
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
