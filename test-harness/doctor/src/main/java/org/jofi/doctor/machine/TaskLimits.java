package org.jofi.doctor.machine;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What limits how many processes and threads there may be, which the kernel counts alike: {@code
 * pids.max} of the control groups, and the user's {@code ulimit -u}.
 *
 * <p>Immutable; any thread. Each call reads the files anew.
 */
public final class TaskLimits {
  /** Where the threads of this process are counted. */
  public static final String STATUS = "/proc/self/status";

  private static final String NAME = "Max processes";
  private static final Pattern THREADS = Pattern.compile("(?m)^Threads:\\s+([0-9]{1,9})$");
  private static final Pattern USER = Pattern.compile("(?m)^Uid:\\s+([0-9]{1,10})\\s");
  private static final Pattern CAPABILITIES = Pattern.compile("(?m)^CapEff:\\s+([0-9a-f]{1,16})$");
  private static final int CAP_SYS_ADMIN = 21;
  private static final int CAP_SYS_RESOURCE = 24;

  private final MachineFiles files;

  /**
   * @param files where the files of processes and of control groups are
   */
  public TaskLimits(MachineFiles files) {
    this.files = files;
  }

  /**
   * The limit that leaves the least.
   *
   * @param left how many more processes and threads there may be
   * @param limit how many there may be in all
   * @param name whose limit it is, and what it is called
   */
  public record Room(long left, long limit, String name) {}

  /** The tightest limit; empty if nothing limits them, as far as the kernel tells. */
  public Optional<Room> tightest() {
    return Stream.concat(
            new ControlGroups(files)
                .processes().stream()
                    .map(
                        room ->
                            new Room(
                                room.left(),
                                room.limit(),
                                "the limit of this container or job (%s)".formatted(room.file()))),
            ofUser().stream())
        .min(Comparator.comparingLong(Room::left));
  }

  /** How many threads this process has now; empty if the kernel does not say. */
  public Optional<Integer> threads() {
    return threads(files.read(STATUS).text());
  }

  private Optional<Room> ofUser() {
    ProcessLimits.Limit limit = ProcessLimits.of(files).limit(NAME);
    String status = files.read(STATUS).text();
    Matcher user = USER.matcher(status);
    if (!limit.known() || limit.unlimited() || !user.find() || isExempt(user.group(1), status)) {
      return Optional.empty();
    }
    String mine = user.group(1);
    long used =
        files.list("/proc").stream()
            .filter(name -> Character.isDigit(name.charAt(0)))
            .map(name -> files.read("/proc/" + name + "/status").text())
            .filter(
                other -> {
                  Matcher owner = USER.matcher(other);
                  return owner.find() && owner.group(1).equals(mine);
                })
            .mapToLong(other -> threads(other).orElse(1))
            .sum();
    return Optional.of(
        new Room(
            Math.max(0, limit.soft() - used),
            limit.soft(),
            "this user's limit on processes (ulimit -u)"));
  }

  /** The kernel holds neither root nor who administers the machine to it. */
  private static boolean isExempt(String user, String status) {
    Matcher capabilities = CAPABILITIES.matcher(status);
    long held = capabilities.find() ? Long.parseUnsignedLong(capabilities.group(1), 16) : 0;
    return user.equals("0")
        || (held >> CAP_SYS_ADMIN & 1) == 1
        || (held >> CAP_SYS_RESOURCE & 1) == 1;
  }

  private static Optional<Integer> threads(String status) {
    Matcher threads = THREADS.matcher(status);
    return threads.find() ? Optional.of(Integer.parseInt(threads.group(1))) : Optional.empty();
  }
}
