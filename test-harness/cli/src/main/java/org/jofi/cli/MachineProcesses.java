package org.jofi.cli;

import java.util.Locale;
import java.util.Optional;
import org.jofi.cli.ranks.Guide;
import org.jofi.doctor.machine.ControlGroups;
import org.jofi.doctor.machine.MachineFiles;
import org.jofi.doctor.machine.TaskLimits;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;

/** Checks whether ranks may be started here: as so many processes, with their threads. */
final class MachineProcesses {
  /**
   * Threads that a process starts when it works: those that run virtual threads and poll for them,
   * and those that watch processes.
   */
  private static final int WORKERS = 7;

  private MachineProcesses() {}

  /**
   * Throws if there may be too few processes and threads, as far as that is known. A rank runs on
   * the same Java runtime as this process, which has not begun its work yet.
   *
   * @param ranks how many processes are to be started
   * @throws TransportException with {@link FailureCause#UNAVAILABLE} if there may be too few
   */
  static void require(int ranks) {
    TaskLimits limits = new TaskLimits(MachineFiles.here());
    int each = limits.threads().orElse(1) + WORKERS;
    int together = ranks * each + WORKERS;
    limits
        .tightest()
        .filter(room -> room.left() < together)
        .ifPresent(
            room -> {
              throw new TransportException(
                  FailureCause.UNAVAILABLE,
                  Guide.ROOM.after(
                      "not enough processes: %d rank(s) here need %d threads each, and this process %d more, %d together; %s leaves %d of %d"
                          .formatted(
                              ranks,
                              each,
                              WORKERS,
                              together,
                              room.name(),
                              room.left(),
                              room.limit())));
            });
  }

  /** What to tell of a run whose ranks take turns by a limit; empty if there is none. */
  static Optional<String> turns(int ranks) {
    return new ControlGroups(MachineFiles.here())
        .processors()
        .filter(quota -> quota.processors() < ranks)
        .map(
            quota ->
                String.format(
                    Locale.ROOT,
                    "%d ranks take turns on %.1f processors, the limit of this container or job (%s)",
                    ranks,
                    quota.processors(),
                    quota.file()));
  }

  /** What to tell of memory that there was none of, or of a thread that could not be started. */
  static String explain(OutOfMemoryError failure) {
    String reason = String.valueOf(failure.getMessage());
    if (!reason.contains("native thread")) {
      return Guide.ROOM.after("not enough memory: " + reason);
    }
    return Guide.ROOM.after(
        "no more threads may be started: "
            + new TaskLimits(MachineFiles.here())
                .tightest()
                .map(room -> "%s leaves %d of %d".formatted(room.name(), room.left(), room.limit()))
                .orElse(
                    "the machine's kernel.threads-max, kernel.pid_max or vm.max_map_count, or its memory"));
  }
}
