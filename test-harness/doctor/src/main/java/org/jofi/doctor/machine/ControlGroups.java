package org.jofi.doctor.machine;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What the kernel's control groups, by which containers and batch systems limit memory, processors
 * and processes, leave to this process. Version 1 and 2, with the limits of all groups around its
 * own.
 *
 * <p>Immutable; any thread. Each call reads the files anew.
 *
 * @see <a href="https://docs.kernel.org/admin-guide/cgroup-v2.html">Control group v2</a>
 */
public final class ControlGroups {
  /** Where a process's groups are named. */
  public static final String FILE = "/proc/self/cgroup";

  private static final String MOUNTS = "/proc/self/mountinfo";

  /** Version 1 writes "no limit" as the largest multiple of a page. */
  private static final long NO_LIMIT = 1L << 60;

  private static final Pattern SPACES = Pattern.compile("\\s+");

  private final MachineFiles files;

  /**
   * @param files where the files of a process and of the groups are
   */
  public ControlGroups(MachineFiles files) {
    this.files = files;
  }

  /**
   * What a group leaves of something that is counted: bytes, or processes and threads together.
   *
   * @param left how much more there may be
   * @param limit how much there may be in all
   * @param file the limit's file
   */
  public record Room(long left, long limit, String file) {}

  /**
   * How much a group may run.
   *
   * @param processors how many processors' time it gets
   * @param file the limit's file
   */
  public record Quota(double processors, String file) {}

  private enum Version {
    FIRST("cgroup"),
    SECOND("cgroup2");

    private final String type;

    Version(String type) {
      this.type = type;
    }
  }

  /** How many more bytes of memory the groups allow; empty if none limits it. */
  public Optional<Room> memory() {
    return least(
        Stream.concat(
            folders(Version.FIRST, "memory")
                .flatMap(
                    folder ->
                        room(
                            folder,
                            "memory.limit_in_bytes",
                            "memory.usage_in_bytes",
                            counter(folder + "/memory.stat", "total_inactive_file"))),
            folders(Version.SECOND, "")
                .flatMap(
                    folder ->
                        room(
                            folder,
                            "memory.max",
                            "memory.current",
                            counter(folder + "/memory.stat", "inactive_file")))));
  }

  /** How many more processes and threads the groups allow; empty if none limits them. */
  public Optional<Room> processes() {
    return least(
        Stream.concat(folders(Version.FIRST, "pids"), folders(Version.SECOND, ""))
            .flatMap(folder -> room(folder, "pids.max", "pids.current", 0)));
  }

  /** How much of the processors the groups allow; empty if none limits it. */
  public Optional<Quota> processors() {
    return Stream.concat(
            folders(Version.FIRST, "cpu")
                .flatMap(
                    folder ->
                        quota(
                            folder + "/cpu.cfs_quota_us",
                            files.read(folder + "/cpu.cfs_quota_us").text(),
                            files.read(folder + "/cpu.cfs_period_us").text())),
            folders(Version.SECOND, "")
                .flatMap(
                    folder -> {
                      String[] words = SPACES.split(files.read(folder + "/cpu.max").text(), -1);
                      return words.length == 2
                          ? quota(folder + "/cpu.max", words[0], words[1])
                          : Stream.of();
                    }))
        .min(Comparator.comparingDouble(Quota::processors));
  }

  private static Optional<Room> least(Stream<Room> rooms) {
    return rooms.min(Comparator.comparingLong(Room::left));
  }

  /** The folders of the process's group and of those around it. */
  private Stream<String> folders(Version version, String controller) {
    return files
        .read(FILE)
        .text()
        .lines()
        .map(line -> line.split(":", 3))
        .filter(fields -> fields.length == 3 && isOf(version, controller, fields[1]))
        .map(fields -> fields[2])
        .limit(1)
        .flatMap(
            group ->
                files
                    .read(MOUNTS)
                    .text()
                    .lines()
                    .map(line -> folders(version, controller, line, group))
                    .filter(folders -> !folders.isEmpty())
                    .limit(1)
                    .flatMap(List::stream));
  }

  private static boolean isOf(Version version, String controller, String controllers) {
    return version == Version.SECOND
        ? controllers.isEmpty()
        : Arrays.asList(controllers.split(",", -1)).contains(controller);
  }

  /** The folders of a group and of those around it, if a line tells where they are mounted. */
  private static List<String> folders(
      Version version, String controller, String mount, String group) {
    // ID PARENT MAJOR:MINOR ROOT MOUNTED OPTIONS [MORE ...] - TYPE SOURCE OPTIONS
    String[] halves = mount.split(" - ", 2);
    String[] head = halves[0].split(" ", -1);
    String[] tail = halves.length < 2 ? new String[0] : halves[1].split(" ", -1);
    boolean fits =
        head.length > 4
            && head[4].startsWith("/")
            && tail.length > 2
            && tail[0].equals(version.type)
            && (version == Version.SECOND || isOf(Version.FIRST, controller, tail[2]));
    if (!fits) {
      return List.of();
    }
    try {
      Path root = Path.of(head[3]);
      Path mounted = Path.of(head[4]);
      Path path = Path.of(group).normalize();
      // A container may see its own group as the root, or not be told where that is.
      Path folder = path.startsWith(root) ? mounted.resolve(root.relativize(path)) : mounted;
      return Stream.iterate(
              folder, each -> each != null && each.startsWith(mounted), Path::getParent)
          .map(Path::toString)
          .toList();
    } catch (InvalidPathException noPath) {
      return List.of();
    }
  }

  private Stream<Room> room(String folder, String limitName, String usageName, long freeable) {
    String file = folder + "/" + limitName;
    // "max", which is no limit, is no number.
    long limit = files.read(file).number();
    long usage = files.read(folder + "/" + usageName).number();
    return limit < 0 || usage < 0 || limit >= NO_LIMIT
        ? Stream.of()
        : Stream.of(new Room(Math.max(0, limit - usage + freeable), limit, file));
  }

  private static Stream<Quota> quota(String file, String quota, String period) {
    long part = Reading.number(quota);
    long whole = Reading.number(period);
    return part <= 0 || whole <= 0
        ? Stream.of()
        : Stream.of(new Quota((double) part / whole, file));
  }

  /** The cache of files counts as used memory, but goes when the memory is needed. */
  private long counter(String file, String name) {
    return files
        .read(file)
        .text()
        .lines()
        .map(line -> line.split(" ", 2))
        .filter(fields -> fields.length == 2 && fields[0].equals(name))
        .mapToLong(fields -> Math.max(0, Reading.number(fields[1])))
        .findFirst()
        .orElse(0);
  }
}
