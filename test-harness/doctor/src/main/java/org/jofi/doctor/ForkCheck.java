package org.jofi.doctor;

import java.util.List;
import java.util.Optional;
import org.jofi.doctor.machine.KernelVersion;
import org.jofi.doctor.machine.Machine;

/**
 * Checks whether a fork can damage memory that a NIC writes to. Kernels from 5.12 on copy such
 * pages, including huge pages, when a process forks. With older kernels, libibverbs has to be told
 * to keep them from the child process.
 */
final class ForkCheck implements Check {
  private static final String NAME = "fork";
  private static final List<String> VARIABLES =
      List.of("RDMAV_FORK_SAFE", "IBV_FORK_SAFE", "FI_EFA_FORK_SAFE");

  @Override
  public List<Finding> examine(Patient patient) {
    return List.of(finding(patient.machine(), patient.process()));
  }

  private static Finding finding(Machine machine, Optional<LiveProcess> process) {
    Optional<KernelVersion> kernel = machine.kernel();
    List<String> read = List.of(KernelVersion.FILE);
    if (kernel.isPresent() && kernel.get().atLeast(5, 12)) {
      return Finding.pass(
          NAME,
          "",
          "Linux %s copies pages that a NIC writes to when a process forks".formatted(kernel.get()),
          read);
    }
    if (machine.rdmaNics().isEmpty()) {
      return Finding.pass(NAME, "", "no RDMA NIC writes to memory", read);
    }
    String linux = kernel.map(version -> "Linux " + version).orElse("a kernel of unknown version");
    String risk = linux + " may hand a page that a NIC writes to over to a forked child";
    if (process.isEmpty()) {
      return Finding.skip(
          NAME,
          "",
          risk
              + "; whether "
              + VARIABLES.getFirst()
              + " guards against it is not read: it belongs"
              + " to the live machine",
          read);
    }
    return VARIABLES.stream()
        .filter(name -> !process.get().variable(name).isEmpty())
        .findFirst()
        .map(name -> Finding.pass(NAME, "", name + " keeps such pages from children", VARIABLES))
        .orElseGet(() -> Finding.warn(NAME, "", risk, VARIABLES, "export RDMAV_FORK_SAFE=1"));
  }
}
