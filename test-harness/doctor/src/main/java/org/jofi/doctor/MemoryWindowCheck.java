package org.jofi.doctor;

import java.util.List;
import org.jofi.doctor.machine.Gpu;
import org.jofi.doctor.machine.Machine;

/** Checks whether BAR1, through which NICs access a GPU's memory, is large enough. */
final class MemoryWindowCheck implements Check {
  private static final String NAME = "bar1";

  /** The size of BAR1 on GPUs without a resizable one, which have many times as much memory. */
  private static final long SMALL_BYTES = 256L << 20;

  @Override
  public List<Finding> examine(Patient patient) {
    Machine machine = patient.machine();
    return machine.gpus().isEmpty()
        ? List.of(Finding.skip(NAME, "", "no GPU", List.of("/sys/bus/pci/devices")))
        : machine.gpus().stream().map(MemoryWindowCheck::examine).toList();
  }

  private static Finding examine(Gpu gpu) {
    long bytes = gpu.bar1Bytes();
    List<String> read = List.of(gpu.pci().folder() + "/resource");
    if (bytes < 0) {
      String trouble = gpu.pci().windows().trouble();
      return Finding.warn(
          NAME,
          gpu.name(),
          trouble.isEmpty() ? "its BAR1 is no memory window" : trouble,
          read,
          "nvidia-smi -q -d MEMORY -i " + gpu.pci());
    }
    if (bytes == 0) {
      return Finding.fail(
          NAME,
          gpu.name(),
          "has no address: no NIC can reach the GPU's memory",
          read,
          "sudo lspci -vv -s %s | grep Region; switch on Above 4G Decoding in the firmware's setup"
              .formatted(gpu.pci()));
    }
    if (bytes <= SMALL_BYTES) {
      return Finding.warn(
          NAME,
          gpu.name(),
          ByteSize.text(bytes) + ": no more than that of its memory can be registered at a time",
          read,
          "sudo lspci -vv -s %s | grep -A2 Resizable; switch on Resizable BAR in the firmware's setup"
              .formatted(gpu.pci()));
    }
    return Finding.pass(NAME, gpu.name(), ByteSize.text(bytes), read);
  }
}
