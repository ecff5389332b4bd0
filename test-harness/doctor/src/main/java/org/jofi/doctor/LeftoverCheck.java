package org.jofi.doctor;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jofi.doctor.machine.MachineFiles;

/**
 * Checks whether killed processes left endpoints of libfabric's shm provider behind. These use
 * memory, and a later process with the same id cannot use their names: fi_enable returns EBUSY.
 */
final class LeftoverCheck implements Check {
  private static final String NAME = "shm-left";
  private static final String FOLDER = "/dev/shm";

  /** Process, user, endpoint. */
  private static final Pattern ENDPOINT = Pattern.compile("([0-9]{1,9}):[0-9]+:[0-9]+");

  private static final String REMEDY =
      "cd /dev/shm && for f in [0-9]*:*:*; do [ -e /proc/${f%%:*} ] || rm -- \"$f\"; done";

  @Override
  public List<Finding> examine(Patient patient) {
    MachineFiles files = patient.machine().files();
    List<String> read = List.of(FOLDER, "/proc");
    if (!files.exists("/proc/1")) {
      return List.of(Finding.skip(NAME, "", "the processes of this machine are not known", read));
    }
    List<String> left =
        files.list(FOLDER).stream().filter(name -> isOfNobody(name, files)).toList();
    if (left.isEmpty()) {
      return List.of(Finding.pass(NAME, "", "no endpoint of a process that is gone", read));
    }
    return List.of(
        Finding.warn(
            NAME,
            "",
            ("%d files of killed processes (%s, ...) hold memory that nobody uses, and fi_enable"
                    + " over shm refuses their names (EBUSY) to later processes of these numbers")
                .formatted(left.size(), left.getFirst()),
            read,
            REMEDY));
  }

  private static boolean isOfNobody(String name, MachineFiles files) {
    Matcher endpoint = ENDPOINT.matcher(name);
    return endpoint.matches() && !files.exists("/proc/" + endpoint.group(1));
  }
}
