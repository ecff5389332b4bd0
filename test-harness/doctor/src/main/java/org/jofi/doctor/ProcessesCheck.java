package org.jofi.doctor;

import java.util.List;
import java.util.Optional;
import org.jofi.doctor.machine.ControlGroups;
import org.jofi.doctor.machine.ProcessLimits;
import org.jofi.doctor.machine.TaskLimits;

/** Checks whether there may be enough processes and threads, of which a rank has some tens. */
final class ProcessesCheck implements Check {
  private static final String NAME = "processes";

  /** A dozen ranks. */
  private static final long ENOUGH = 500;

  @Override
  public List<Finding> examine(Patient patient) {
    List<String> read = List.of(ProcessLimits.FILE, ControlGroups.FILE);
    Optional<TaskLimits.Room> tightest = new TaskLimits(patient.machine().files()).tightest();
    if (tightest.isEmpty()) {
      return List.of(Finding.pass(NAME, "", "no limit", read));
    }
    TaskLimits.Room room = tightest.get();
    String left = "%d of %d are left by %s".formatted(room.left(), room.limit(), room.name());
    return List.of(
        room.left() >= ENOUGH
            ? Finding.pass(NAME, "", left, read)
            : Finding.warn(
                NAME,
                "",
                left + ": threads count as well, and a rank has some tens of them",
                read,
                "ulimit -u unlimited; docker run --pids-limit=-1"));
  }
}
