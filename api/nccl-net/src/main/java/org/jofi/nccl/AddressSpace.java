package org.jofi.nccl;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The process's limit on its address space ({@code ulimit -v}). A JVM reserves far more than it
 * uses, and ends the process when it gets no more, whoever's process that is.
 *
 * @see <a
 *     href="https://man7.org/linux/man-pages/man5/proc_pid_limits.5.html">proc_pid_limits(5)</a>
 */
final class AddressSpace {
  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final Pattern LINE = Pattern.compile("(?m)^Max address space\\s+(\\d+)\\s");

  /**
   * The heap, the class space, code, threads' stacks and what NCCL maps: with 2 GiB the JVM starts,
   * and ends the process later.
   */
  private static final long ENOUGH_BYTES = 4L << 30;

  private AddressSpace() {}

  /** A sentence, if this process's limit is one that a JVM may reach. */
  static Optional<String> warning() {
    try {
      return warning(Files.readString(LIMITS, StandardCharsets.US_ASCII));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * As {@link #warning()}.
   *
   * @param limits a process's, as procfs has them
   */
  static Optional<String> warning(String limits) {
    Matcher line = LINE.matcher(limits);
    // No number: unlimited.
    return line.find()
            && Long.compareUnsigned(Long.parseUnsignedLong(line.group(1)), ENOUGH_BYTES) < 0
        ? Optional.of(
            ("this process may use %d MiB of addresses (ulimit -v), and a JVM that gets no more ends"
                    + " it: at least %d are needed, or no limit")
                .formatted(Long.parseUnsignedLong(line.group(1)) >> 20, ENOUGH_BYTES >> 20))
        : Optional.empty();
  }
}
