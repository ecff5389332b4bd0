package org.jofi.doctor;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jofi.doctor.machine.Machine;
import org.jofi.doctor.machine.ProcessLimits;
import org.jofi.doctor.machine.Reading;

/** Checks whether the process may lock enough memory for registrations with an RDMA NIC. */
final class MemlockCheck implements Check {
  private static final String NAME = "memlock";
  private static final String STATUS = "/proc/self/status";
  private static final long ENOUGH_BYTES = 1L << 30;
  private static final int CAP_IPC_LOCK = 14;
  private static final Pattern CAPABILITIES = Pattern.compile("CapEff:\\s+([0-9a-f]{1,16})");
  private static final String REMEDY =
      "ulimit -l unlimited; for good: echo '* - memlock unlimited' | sudo tee"
          + " /etc/security/limits.d/rdma.conf (a service: LimitMEMLOCK=infinity)";

  @Override
  public List<Finding> examine(Patient patient) {
    return List.of(finding(patient.machine()));
  }

  private static Finding finding(Machine machine) {
    List<String> read = List.of(ProcessLimits.FILE, STATUS);
    ProcessLimits limits = ProcessLimits.of(machine.files());
    ProcessLimits.Limit limit = limits.limit("Max locked memory");
    if (!limit.known()) {
      return Finding.warn(NAME, "", limits.trouble("Max locked memory"), read, "ulimit -l");
    }
    if (limit.unlimited()) {
      return Finding.pass(NAME, "", "unlimited", read);
    }
    String size = ByteSize.text(limit.soft());
    if (mayLockAnything(machine.files().read(STATUS))) {
      return Finding.pass(NAME, "", size + ", and CAP_IPC_LOCK lifts it for this process", read);
    }
    if (machine.rdmaNics().isEmpty()) {
      return Finding.pass(NAME, "", size + ": tcp and shm lock no memory", read);
    }
    return limit.soft() < ENOUGH_BYTES
        ? Finding.fail(
            NAME,
            "",
            size + ": registering more than that with a NIC fails with ENOMEM",
            read,
            REMEDY)
        : Finding.warn(NAME, "", size + ": registrations together can be no larger", read, REMEDY);
  }

  private static boolean mayLockAnything(Reading status) {
    return status
        .text()
        .lines()
        .map(CAPABILITIES::matcher)
        .filter(Matcher::matches)
        .anyMatch(line -> (Long.parseUnsignedLong(line.group(1), 16) >> CAP_IPC_LOCK & 1) == 1);
  }
}
