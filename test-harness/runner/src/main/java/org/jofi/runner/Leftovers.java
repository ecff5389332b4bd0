package org.jofi.runner;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What processes that tests killed left in shared memory, which holds memory until somebody removes
 * it: endpoints of libfabric's shm and efa providers that came while the tests ran, and that no
 * process has mapped.
 */
final class Leftovers {
  private static final Path FOLDER = Path.of("/dev/shm");
  private static final Path PROCESSES = Path.of("/proc");

  /** Of shm: process, user, endpoint, and what jofi adds. Of efa: the address of a device. */
  private static final Pattern ENDPOINT =
      Pattern.compile("\\d+:\\d+:\\d+(-\\p{XDigit}+)?|fe80::efad:[\\p{XDigit}:_]+");

  /** Whoever makes one has mapped it by then. */
  private static final Duration YOUNG = Duration.ofSeconds(5);

  private Leftovers() {}

  /** Removes what came since then; how many files. */
  static int remove(Instant since) throws IOException {
    return remove(FOLDER, since, Instant.now().minus(YOUNG));
  }

  /** As {@link #remove(Instant)}, of what changed last between these times. */
  static int remove(Path folder, Instant since, Instant until) throws IOException {
    Set<String> mapped = mapped(folder);
    int removed = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        if (ENDPOINT.matcher(String.valueOf(file.getFileName())).matches()
            && !mapped.contains(file.toString())
            && isBetween(file, since, until)
            && Files.deleteIfExists(file)) {
          removed++;
        }
      }
    }
    return removed;
  }

  private static boolean isBetween(Path file, Instant since, Instant until) {
    try {
      Instant changed = Files.getLastModifiedTime(file).toInstant();
      return !changed.isBefore(since) && changed.isBefore(until);
    } catch (IOException gone) {
      return false;
    }
  }

  /** The files of a folder that processes have mapped. */
  private static Set<String> mapped(Path folder) throws IOException {
    Set<String> found = new HashSet<>();
    String prefix = folder + "/";
    try (DirectoryStream<Path> processes =
        Files.newDirectoryStream(PROCESSES, entry -> isNumber(entry))) {
      for (Path process : processes) {
        for (String line : lines(process.resolve("maps"))) {
          int at = line.indexOf(prefix);
          if (at >= 0) {
            found.add(line.substring(at));
          }
        }
      }
    }
    return found;
  }

  private static boolean isNumber(Path entry) {
    return String.valueOf(entry.getFileName()).chars().allMatch(Character::isDigit);
  }

  /** None of a process that ended, or is another user's, whose files this one could not remove. */
  private static List<String> lines(Path maps) {
    try {
      return new String(Files.readAllBytes(maps), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException e) {
      return List.of();
    }
  }
}
