package org.jofi.libfabric;

import java.io.IOException;
import java.nio.file.Files;
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
    String[] fields = read(pid);
    return fields == null ? null : new ProcessLife(pid, Long.parseLong(fields[START]));
  }

  /** Whether it is over. A process that nobody has waited for yet is dead all the same. */
  boolean isOver() {
    String[] fields = read(pid);
    return fields == null
        || fields[STATE].equals("Z")
        || fields[STATE].equals("X")
        || Long.parseLong(fields[START]) != startTicks;
  }

  /** The fields behind the name, which may have blanks and parentheses itself. */
  private static String @Nullable [] read(int pid) {
    try {
      String line = Files.readString(Path.of("/proc", Integer.toString(pid), "stat"));
      String[] fields = line.substring(line.lastIndexOf(')') + 1).trim().split(" ");
      return fields.length > START ? fields : null;
    } catch (IOException gone) {
      return null;
    }
  }
}
