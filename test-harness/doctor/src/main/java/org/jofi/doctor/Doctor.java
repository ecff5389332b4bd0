package org.jofi.doctor;

import java.util.List;
import java.util.Optional;
import org.jofi.doctor.machine.Machine;
import org.jofi.doctor.machine.MachineFiles;

/**
 * Examines a machine. It reads files and changes nothing; it loads no library for GPUs.
 *
 * <p>Any thread.
 */
public final class Doctor {
  private static final List<Check> CHECKS =
      List.of(
          new KernelCheck(),
          new NicCheck(),
          new SubnetCheck(),
          new GpuCheck(),
          new MemoryWindowCheck(),
          new PeerMemoryCheck(),
          new PathCheck(),
          new AccessControlCheck(),
          new IommuCheck(),
          new MemlockCheck(),
          new OpenFilesCheck(),
          new ProcessesCheck(),
          new ControlGroupCheck(),
          new SharedMemoryCheck(),
          new LeftoverCheck(),
          new HugePagesCheck(),
          new ForkCheck(),
          new LibfabricCheck(),
          new MemoryMonitorCheck(),
          new JvmCheck());

  private Doctor() {}

  /**
   * Examines a machine.
   *
   * @param files its files
   * @param process this process; empty if the files are another machine's
   */
  public static Diagnosis examine(MachineFiles files, Optional<LiveProcess> process) {
    Machine machine = Machine.read(files);
    Patient patient = new Patient(machine, process);
    return new Diagnosis(
        machine,
        new TopologyMatrix(machine),
        CHECKS.stream().flatMap(check -> check.examine(patient).stream()).toList());
  }
}
