package org.jofi.doctor;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jofi.doctor.machine.Machine;
import org.jofi.doctor.machine.Reading;

/**
 * Checks whether the kernel can give a NIC access to GPU memory: through the module nvidia_peermem,
 * which was called nv_peer_mem before driver 470, or through dma-buf, which needs neither.
 */
final class PeerMemoryCheck implements Check {
  private static final String NAME = "peermem";
  private static final String MODULES = "/proc/modules";
  private static final String LOAD =
      "sudo modprobe nvidia_peermem; echo nvidia_peermem | sudo tee"
          + " /etc/modules-load.d/nvidia-peermem.conf";

  @Override
  public List<Finding> examine(Patient patient) {
    return List.of(finding(patient.machine()));
  }

  private static Finding finding(Machine machine) {
    List<String> read = List.of(MODULES);
    if (!machine.gpuDirectPossible()) {
      return Finding.skip(
          NAME,
          "",
          machine.gpus().isEmpty() ? "not needed: no GPU" : "not needed: no RDMA NIC",
          read);
    }
    Reading modules = machine.files().read(MODULES);
    Set<String> loaded =
        modules.text().lines().map(line -> line.split(" ", 2)[0]).collect(Collectors.toSet());
    if (loaded.contains("nvidia_peermem")) {
      return Finding.pass(NAME, "", "nvidia_peermem is loaded", read);
    }
    if (loaded.contains("nv_peer_mem")) {
      return Finding.pass(
          NAME, "", "nv_peer_mem is loaded, the older name of nvidia_peermem", read);
    }
    if (machine.dmaBufPossible()) {
      return Finding.pass(
          NAME,
          "",
          "neither nvidia_peermem nor nv_peer_mem is loaded, and none is needed: driver and"
              + " kernel do dma-buf",
          read);
    }
    if (!modules.ok()) {
      return Finding.warn(NAME, "", modules.trouble(), read, "lsmod | grep -e peermem -e peer_mem");
    }
    return Finding.fail(
        NAME,
        "",
        "neither nvidia_peermem nor nv_peer_mem is loaded, and dma-buf is not to be had ("
            + (machine.kernelTakesDmaBuf()
                ? "it needs NVIDIA's open modules from 515 on"
                : "it needs Linux 5.12 and NVIDIA's open modules from 515 on")
            + "): registering GPU memory fails, or succeeds and the data never gets there",
        read,
        LOAD);
  }
}
