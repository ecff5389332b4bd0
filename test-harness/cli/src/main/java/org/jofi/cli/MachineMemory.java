package org.jofi.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;

/** Whether this machine has as much memory as a run will take. */
final class MachineMemory {
  private static final Path MEMINFO = Path.of("/proc/meminfo");
  private static final Pattern AVAILABLE =
      Pattern.compile("^MemAvailable:\\s+([0-9]{1,15}) kB$", Pattern.MULTILINE);

  private MachineMemory() {}

  /**
   * Goes on only if there is as much, as far as that is known.
   *
   * @param ranks how many ranks run here
   * @param each what each of them needs, in bytes
   * @throws TransportException with {@link FailureCause#UNAVAILABLE} otherwise
   */
  static void require(int ranks, long each) {
    OptionalLong available = available();
    // Not multiplied: what nobody has may be too large for that.
    if (available.isPresent() && each > available.getAsLong() / ranks) {
      throw new TransportException(
          FailureCause.UNAVAILABLE,
          "not enough memory: %d rank(s) here need %s each, %s together; this machine has %s available"
              .formatted(
                  ranks,
                  gibibytes((double) each),
                  gibibytes((double) each * ranks),
                  gibibytes((double) available.getAsLong())));
    }
  }

  /** What can be had without swapping, in bytes; empty where the kernel does not say. */
  private static OptionalLong available() {
    try {
      Matcher line = AVAILABLE.matcher(Files.readString(MEMINFO, StandardCharsets.UTF_8));
      return line.find()
          ? OptionalLong.of(Long.parseLong(line.group(1)) * 1024)
          : OptionalLong.empty();
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  private static String gibibytes(double bytes) {
    return String.format(Locale.ROOT, "%.1f GiB", bytes / (1 << 30));
  }
}
