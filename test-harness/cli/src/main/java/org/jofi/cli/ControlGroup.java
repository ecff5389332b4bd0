package org.jofi.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * What the kernel's control groups, by which containers and batch systems limit memory, leave to
 * this process. Version 1 and 2, with the limits of all groups around its own.
 */
final class ControlGroup {
  /** The least that a group leaves. */
  record Room(long bytes, Path limit) {}

  /** Files of a group: the limit, what counts toward it, and the counter of what can be freed. */
  private enum Version {
    FIRST("cgroup", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    SECOND("cgroup2", "memory.max", "memory.current", "inactive_file");

    private final String type;
    private final String limit;
    private final String usage;
    private final String freeable;

    Version(String type, String limit, String usage, String freeable) {
      this.type = type;
      this.limit = limit;
      this.usage = usage;
      this.freeable = freeable;
    }
  }

  /** Version 1 writes "no limit" as the largest multiple of a page. */
  private static final long NO_LIMIT = 1L << 60;

  private ControlGroup() {}

  /** How much more memory this process's groups allow; empty if none limits it. */
  static Optional<Room> memory() {
    return memory(Path.of("/proc/self"));
  }

  /** The same of a process with that folder in {@code /proc}. */
  static Optional<Room> memory(Path process) {
    try {
      List<String> groups = lines(process.resolve("cgroup"));
      List<String> mounts = lines(process.resolve("mountinfo"));
      return Stream.of(Version.values())
          .flatMap(version -> rooms(version, groups, mounts))
          .min((one, other) -> Long.compare(one.bytes, other.bytes));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static List<String> lines(Path file) throws IOException {
    return Files.readAllLines(file, StandardCharsets.UTF_8);
  }

  private static Stream<Room> rooms(Version version, List<String> groups, List<String> mounts) {
    String group =
        groups.stream()
            .map(line -> line.split(":", 3))
            .filter(fields -> fields.length == 3 && isOf(version, fields[1]))
            .map(fields -> fields[2])
            .findFirst()
            .orElse(null);
    if (group == null) {
      return Stream.empty();
    }
    return mounts.stream()
        .map(line -> folders(version, line, group))
        .filter(folders -> !folders.isEmpty())
        .findFirst()
        .orElse(List.of())
        .stream()
        .flatMap(folder -> room(version, folder).stream());
  }

  private static boolean isOf(Version version, String controllers) {
    return version == Version.SECOND
        ? controllers.isEmpty()
        : Arrays.asList(controllers.split(",", -1)).contains("memory");
  }

  /** The folders of a group and of those around it, if a line tells where they are mounted. */
  private static List<Path> folders(Version version, String mount, String group) {
    // ID PARENT MAJOR:MINOR ROOT MOUNTED OPTIONS [MORE ...] - TYPE SOURCE OPTIONS
    String[] halves = mount.split(" - ", 2);
    String[] head = halves[0].split(" ", -1);
    String[] tail = halves.length < 2 ? new String[0] : halves[1].split(" ", -1);
    boolean fits =
        head.length > 4
            && tail.length > 2
            && tail[0].equals(version.type)
            && (version == Version.SECOND || isOf(Version.FIRST, tail[2]));
    if (!fits) {
      return List.of();
    }
    Path root = Path.of(head[3]);
    Path mounted = Path.of(head[4]);
    Path path = Path.of(group).normalize();
    // A container may see its own group as the root, or not be told where that is.
    Path folder = path.startsWith(root) ? mounted.resolve(root.relativize(path)) : mounted;
    return Stream.iterate(folder, each -> each != null && each.startsWith(mounted), Path::getParent)
        .toList();
  }

  private static Optional<Room> room(Version version, Path folder) {
    OptionalLong limit = number(folder.resolve(version.limit));
    OptionalLong usage = number(folder.resolve(version.usage));
    if (limit.isEmpty() || usage.isEmpty() || limit.getAsLong() >= NO_LIMIT) {
      return Optional.empty();
    }
    long left = limit.getAsLong() - usage.getAsLong() + freeable(version, folder);
    return Optional.of(new Room(Math.max(0, left), folder.resolve(version.limit)));
  }

  /** The cache of files counts as used, but goes when the memory is needed. */
  private static long freeable(Version version, Path folder) {
    try {
      return lines(folder.resolve("memory.stat")).stream()
          .map(line -> line.split(" ", 2))
          .filter(fields -> fields.length == 2 && fields[0].equals(version.freeable))
          .mapToLong(fields -> parse(fields[1]).orElse(0))
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      return 0;
    }
  }

  private static OptionalLong number(Path file) {
    try {
      return parse(Files.readString(file, StandardCharsets.UTF_8).strip());
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  private static OptionalLong parse(String text) {
    try {
      return OptionalLong.of(Long.parseLong(text));
    } catch (NumberFormatException e) {
      // "max", which is no limit.
      return OptionalLong.empty();
    }
  }
}
