package org.jofi.ranks;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Slurm's short form of a list of hosts, such as {@code rack[0-1]_blade[00-31,40],login}. What is
 * not understood is refused: half of a name may be another host's.
 */
final class HostList {
  /**
   * Text and numbers in brackets, of which the first of a range is taken. What repeats gives
   * nothing back: to do that the matcher calls itself for each of thousands of nodes.
   */
  private static final Pattern PART =
      Pattern.compile("([A-Za-z0-9._-]+)|\\[(\\d+)(?:-\\d+)?(?:,\\d+(?:-\\d+)?)*+]");

  private static final long BOUND_SECONDS = 5;

  private HostList() {}

  /**
   * The first host, as Slurm itself tells it; or where it has no such program, or that fails, from
   * the text.
   *
   * @throws IllegalArgumentException if the text is not understood
   */
  static String first(String hosts) {
    return first(hosts, "scontrol");
  }

  /** The same, as that program tells it. */
  static String first(String hosts, String scontrol) {
    // A list from the environment is no option of the program's.
    return hosts.startsWith("-") ? parse(hosts) : ask(hosts, scontrol);
  }

  private static String ask(String hosts, String scontrol) {
    try {
      // A file takes the names of any number of hosts, also when nobody reads yet.
      Path out = Files.createTempFile("hosts", ".txt");
      try {
        Process process =
            new ProcessBuilder(List.of(scontrol, "show", "hostnames", hosts))
                .redirectInput(new File("/dev/null"))
                .redirectOutput(out.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        boolean ended = process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS);
        process.destroyForcibly();
        try (Stream<String> names = Files.lines(out)) {
          Optional<String> first = names.findFirst().filter(name -> !name.isBlank());
          return ended && process.exitValue() == 0 && first.isPresent()
              ? first.get()
              : parse(hosts);
        }
      } finally {
        Files.delete(out);
      }
    } catch (IOException e) {
      return parse(hosts);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return parse(hosts);
    }
  }

  /** The first host, from the text alone. */
  static String parse(String hosts) {
    StringBuilder first = new StringBuilder();
    Matcher part = PART.matcher(hosts);
    int at = 0;
    while (at < hosts.length() && hosts.charAt(at) != ',') {
      if (!part.find(at) || part.start() != at) {
        throw new IllegalArgumentException(
            "Slurm's list of hosts is not understood: '%s'; set MASTER_ADDR to the host of rank 0"
                .formatted(hosts));
      }
      first.append(part.group(1) != null ? part.group(1) : part.group(2));
      at = part.end();
    }
    if (first.isEmpty()) {
      throw new IllegalArgumentException(
          "Slurm's list of hosts names none: '%s'; set MASTER_ADDR to the host of rank 0"
              .formatted(hosts));
    }
    return first.toString();
  }
}
