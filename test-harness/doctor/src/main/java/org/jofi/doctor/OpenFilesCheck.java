package org.jofi.doctor;

import java.util.List;
import org.jofi.doctor.machine.MachineFiles;
import org.jofi.doctor.machine.ProcessLimits;

/** Checks whether enough files may be open: the tcp provider needs one per peer and rail. */
final class OpenFilesCheck implements Check {
  private static final String NAME = "open-files";
  private static final String LIMIT = "Max open files";

  /** Enough for a thousand peers with four rails each. */
  private static final long ENOUGH = 4096;

  @Override
  public List<Finding> examine(Patient patient) {
    MachineFiles files = patient.machine().files();
    ProcessLimits limits = ProcessLimits.of(files);
    // The JVM raises its soft limit to the hard limit.
    long hard = limits.limit(LIMIT).hard();
    List<String> read = List.of(ProcessLimits.FILE);
    if (hard < 0) {
      return List.of(Finding.warn(NAME, "", limits.trouble(LIMIT), read, "ulimit -Hn"));
    }
    return List.of(
        hard >= ENOUGH
            ? Finding.pass(NAME, "", hard == Long.MAX_VALUE ? "unlimited" : "up to " + hard, read)
            : Finding.warn(
                NAME,
                "",
                "at most %d: tcp takes one for each peer and rail, and large jobs run out"
                    .formatted(hard),
                read,
                "echo '* - nofile 65536' | sudo tee /etc/security/limits.d/nofile.conf; log in"
                    + " again"));
  }
}
