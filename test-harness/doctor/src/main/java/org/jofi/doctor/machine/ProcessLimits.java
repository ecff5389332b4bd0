package org.jofi.doctor.machine;

import java.util.regex.Pattern;

/** The limits of a process: proc_pid_limits(5). Immutable; any thread. */
public final class ProcessLimits {
  /** Where they are. */
  public static final String FILE = "/proc/self/limits";

  private static final Pattern SPACES = Pattern.compile("\\s+");
  private static final Limit NOT_KNOWN = new Limit(-1, -1);

  private final Reading reading;

  private ProcessLimits(Reading reading) {
    this.reading = reading;
  }

  /** Those of this process, or of the one whose files a copy has. */
  public static ProcessLimits of(MachineFiles files) {
    return new ProcessLimits(files.read(FILE));
  }

  /** The limit with this name, spelled as in the file. */
  public Limit limit(String name) {
    return reading
        .text()
        .lines()
        .filter(line -> line.startsWith(name + " "))
        .map(line -> SPACES.split(line.substring(name.length()).strip(), -1))
        .filter(words -> words.length >= 2)
        .map(words -> new Limit(value(words[0]), value(words[1])))
        .findFirst()
        .orElse(NOT_KNOWN);
  }

  /** Why a limit is not known. */
  public String trouble(String name) {
    return reading.ok() ? FILE + " tells no " + name : reading.trouble();
  }

  private static long value(String word) {
    if (word.equals("unlimited")) {
      return Long.MAX_VALUE;
    }
    return word.matches("[0-9]{1,18}") ? Long.parseLong(word) : -1;
  }

  /**
   * A limit.
   *
   * @param soft the limit in force; {@link Long#MAX_VALUE} if there is none; -1 if unknown
   * @param hard how far the process may raise it
   */
  public record Limit(long soft, long hard) {
    /** Whether it is known. */
    public boolean known() {
      return soft >= 0;
    }

    /** Whether there is none. */
    public boolean unlimited() {
      return soft == Long.MAX_VALUE;
    }
  }
}
