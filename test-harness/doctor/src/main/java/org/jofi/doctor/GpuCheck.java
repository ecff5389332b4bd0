package org.jofi.doctor;

import java.util.List;
import org.jofi.doctor.machine.Gpu;
import org.jofi.doctor.machine.Machine;
import org.jofi.doctor.machine.NvidiaDriver;

/**
 * Checks whether each GPU has NVIDIA's driver, and is of a product line that supports GPUDirect
 * RDMA.
 */
final class GpuCheck implements Check {
  private static final String NAME = "gpu";

  @Override
  public List<Finding> examine(Patient patient) {
    Machine machine = patient.machine();
    if (machine.gpus().isEmpty()) {
      return List.of(
          Finding.warn(
              NAME,
              "",
              "no NVIDIA GPU on PCI: only host memory can be sent",
              List.of("/sys/bus/pci/devices"),
              "lspci -nn -d 10de:"));
    }
    return machine.gpus().stream().map(gpu -> examine(gpu, machine)).toList();
  }

  private static Finding examine(Gpu gpu, Machine machine) {
    List<String> read = List.of(gpu.pci().folder() + "/driver", NvidiaDriver.FILE);
    String driver = gpu.pci().driver();
    String what = gpu.title() + " at " + gpu.pci();
    if (driver.isEmpty()) {
      return Finding.fail(
          NAME, gpu.name(), what + ": no driver is bound to it", read, "sudo modprobe nvidia");
    }
    if (!driver.equals("nvidia")) {
      return Finding.fail(
          NAME,
          gpu.name(),
          what + ": driver " + driver + " is bound to it, and CUDA needs nvidia",
          read,
          "echo 'blacklist %s' | sudo tee /etc/modprobe.d/jofi-gpu.conf; sudo reboot"
              .formatted(driver));
    }
    if (machine.nvidia().isEmpty()) {
      return Finding.warn(
          NAME,
          gpu.name(),
          what + ": the driver does not tell its version, so its dma-buf support is unknown",
          read,
          "nvidia-smi --query-gpu=driver_version --format=csv");
    }
    if (gpu.withoutGpuDirect()) {
      return Finding.warn(
          NAME,
          gpu.name(),
          what + ": GPUDirect RDMA is not for this product line, so jofi stages its memory",
          read,
          "./jofi verify-gpu");
    }
    return Finding.pass(NAME, gpu.name(), what + ", driver nvidia " + machine.nvidia().get(), read);
  }
}
