package org.jofi.doctor.machine;

import java.util.ArrayList;
import java.util.List;

/**
 * An NVIDIA GPU.
 *
 * @param index its index in the order of PCI addresses
 * @param pci the function
 * @param model the driver's name for it; empty if no driver reports it
 */
public record Gpu(int index, PciDevice pci, String model) {
  private static final long NVIDIA = 0x10de;
  private static final int DISPLAY = 0x03;
  private static final int ACCELERATOR = 0x12;

  static List<Gpu> of(MachineFiles files, PciTree tree) {
    List<Gpu> gpus = new ArrayList<>();
    for (PciDevice device : tree.devices()) {
      int kind = device.baseClass();
      if ((kind == DISPLAY || kind == ACCELERATOR) && device.vendor() == NVIDIA) {
        gpus.add(new Gpu(gpus.size(), device, model(files, device)));
      }
    }
    return gpus;
  }

  private static String model(MachineFiles files, PciDevice device) {
    return files
        .read("/proc/driver/nvidia/gpus/" + device.address() + "/information")
        .text()
        .lines()
        .filter(line -> line.startsWith("Model:"))
        .map(line -> line.substring("Model:".length()).strip())
        .findFirst()
        .orElse("");
  }

  /** Its name, such as {@code GPU0}. */
  public String name() {
    return "GPU" + index;
  }

  /**
   * How many bytes of its memory other devices can access through its second memory window, which
   * NVIDIA calls BAR1. From Hopper on, the first window has a 64-bit address, which takes two
   * registers.
   *
   * @return 0 if no address is assigned; -1 if unknown
   */
  public long bar1Bytes() {
    return pci.barBytes(pci.isWide(0) ? 2 : 1);
  }

  /** The model's name, or vendor and device numbers. */
  public String title() {
    return model.isEmpty() ? pci.identity() : model;
  }

  /** Whether it is of a product line for which NVIDIA does not support GPUDirect RDMA. */
  public boolean withoutGpuDirect() {
    return model.contains("GeForce") || model.contains("TITAN");
  }
}
