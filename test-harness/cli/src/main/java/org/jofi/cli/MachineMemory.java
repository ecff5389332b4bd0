package org.jofi.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jofi.cli.ranks.Guide;
import org.jofi.doctor.machine.ControlGroups;
import org.jofi.doctor.machine.MachineFiles;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;

/** Checks whether this machine, and what limits this process on it, has enough memory for a run. */
final class MachineMemory {
  private static final Path MEMINFO = Path.of("/proc/meminfo");
  private static final Pattern AVAILABLE =
      Pattern.compile("^MemAvailable:\\s+([0-9]{1,15}) kB$", Pattern.MULTILINE);

  private MachineMemory() {}

  /**
   * Throws if there is too little memory, as far as that is known.
   *
   * @param ranks how many ranks run here
   * @param each how many bytes each of them needs
   * @throws TransportException with {@link FailureCause#UNAVAILABLE} if there is too little
   */
  static void require(int ranks, long each) {
    available().ifPresent(bytes -> require(ranks, each, bytes, "this machine has available"));
    new ControlGroups(MachineFiles.here())
        .memory()
        .ifPresent(
            room ->
                require(
                    ranks,
                    each,
                    room.left(),
                    "the limit of this container or job (%s) leaves".formatted(room.file())));
  }

  private static void require(int ranks, long each, long available, String where) {
    // Divide instead of multiplying, which could overflow.
    if (each > available / ranks) {
      throw new TransportException(
          FailureCause.UNAVAILABLE,
          Guide.ROOM.after(
              "not enough memory: %d rank(s) here need %s each, %s together; %s %s"
                  .formatted(
                      ranks,
                      gibibytes((double) each),
                      gibibytes((double) each * ranks),
                      where,
                      gibibytes((double) available))));
    }
  }

  /** How many bytes are available without swapping; empty if the kernel does not say. */
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
