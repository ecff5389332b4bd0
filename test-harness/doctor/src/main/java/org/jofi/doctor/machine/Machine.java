package org.jofi.doctor.machine;

import java.util.List;
import java.util.Optional;

/**
 * A machine, as described by its files.
 *
 * @param files the files that everything is read from
 * @param pci its PCI functions
 * @param gpus its NVIDIA GPUs, in the order of their PCI addresses
 * @param nics its NICs, those for RDMA first
 * @param nvidia NVIDIA's kernel driver, if it is loaded
 * @param kernel the kernel's version, if known
 */
public record Machine(
    MachineFiles files,
    PciTree pci,
    List<Gpu> gpus,
    List<Nic> nics,
    Optional<NvidiaDriver> nvidia,
    Optional<KernelVersion> kernel) {

  /** The first kernel that registers dma-buf memory with RDMA NICs. */
  private static final int DMA_BUF_MAJOR = 5;

  private static final int DMA_BUF_MINOR = 12;

  /** Reads a machine. What cannot be read is left out, without an exception. */
  public static Machine read(MachineFiles files) {
    PciTree pci = new PciTree(files);
    return new Machine(
        files,
        pci,
        Gpu.of(files, pci),
        new NicInventory(files, pci).nics(),
        NvidiaDriver.of(files),
        KernelVersion.of(files.read(KernelVersion.FILE).text()));
  }

  /** The NICs that the kernel offers for RDMA. */
  public List<Nic> rdmaNics() {
    return nics.stream().filter(Nic::rdma).toList();
  }

  /** Whether there is a GPU and an RDMA NIC for it. */
  public boolean gpuDirectPossible() {
    return !gpus.isEmpty() && !rdmaNics().isEmpty();
  }

  /** Whether the kernel registers dma-buf memory with RDMA NICs. */
  public boolean kernelTakesDmaBuf() {
    return kernel.map(version -> version.atLeast(DMA_BUF_MAJOR, DMA_BUF_MINOR)).orElse(false);
  }

  /** Whether driver and kernel let GPU memory be registered as dma-buf. */
  public boolean dmaBufPossible() {
    return kernelTakesDmaBuf() && nvidia.map(NvidiaDriver::exportsDmaBuf).orElse(false);
  }
}
