package org.jofi.doctor;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jofi.doctor.machine.MachineFiles;

/**
 * Checks whether killed processes left endpoints of libfabric's shm provider behind, which use
 * memory. Containers that share the folder have processes that are not seen here, so that only a
 * file with the number of this PID namespace in its name is known to be nobody's.
 */
final class LeftoverCheck implements Check {
  private static final String NAME = "shm-left";
  private static final String FOLDER = "/dev/shm";

  /** Process, user, endpoint; behind those of jofi the PID namespace. */
  private static final Pattern ENDPOINT =
      Pattern.compile("([0-9]{1,9}):[0-9]+:[0-9]+(?:-[0-9a-f]+)?");

  private static final String REMEDY =
      "cd /dev/shm && n=$(readlink /proc/self/ns/pid | tr -dc 0-9) &&"
          + " for f in [0-9]*:*:*-$(printf %x $n); do [ -e /proc/${f%%:*} ] || rm -- \"$f\"; done";

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
            ("%d files are of processes that are not here (%s, ...): killed ones, whose files hold"
                    + " memory that nobody uses, or those of a container that shares /dev/shm")
                .formatted(left.size(), left.getFirst()),
            read,
            REMEDY));
  }

  private static boolean isOfNobody(String name, MachineFiles files) {
    Matcher endpoint = ENDPOINT.matcher(name);
    return endpoint.matches() && !files.exists("/proc/" + endpoint.group(1));
  }
}
