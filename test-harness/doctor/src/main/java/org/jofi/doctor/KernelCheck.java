package org.jofi.doctor;

import java.util.List;
import org.jofi.doctor.machine.KernelVersion;
import org.jofi.doctor.machine.Machine;
import org.jofi.doctor.machine.Reading;

/** Checks whether the kernel can register dma-buf memory with NICs, which it can from 5.12 on. */
final class KernelCheck implements Check {
  private static final String NAME = "kernel";

  @Override
  public List<Finding> examine(Patient patient) {
    Machine machine = patient.machine();
    Reading release = machine.files().read(KernelVersion.FILE);
    List<String> read = List.of(KernelVersion.FILE);
    if (machine.kernel().isEmpty()) {
      return List.of(
          Finding.warn(
              NAME,
              "",
              release.ok()
                  ? "the kernel's version cannot be understood, so it is not known whether it"
                      + " takes dma-buf (5.12)"
                  : release.trouble(),
              read,
              "uname -r"));
    }
    String linux = "Linux " + machine.kernel().get();
    return List.of(
        machine.kernelTakesDmaBuf()
            ? Finding.pass(
                NAME, "", linux + " registers dma-buf memory with NICs (from 5.12 on)", read)
            : Finding.warn(
                NAME,
                "",
                linux
                    + " is older than 5.12 and takes no dma-buf memory, unless its vendor carried"
                    + " that back: GPU memory needs nvidia_peermem",
                read,
                "sudo modprobe nvidia_peermem; or boot Linux 5.12 or newer"));
  }
}
