package org.jofi.doctor;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.jofi.doctor.machine.Gpu;
import org.jofi.doctor.machine.Machine;
import org.jofi.doctor.machine.Nic;

/** Checks which NICs each GPU should use, and whether one is near enough. */
final class PathCheck implements Check {
  private static final String NAME = "path";
  private static final List<String> READ = List.of("/sys/bus/pci/devices");

  @Override
  public List<Finding> examine(Patient patient) {
    Machine machine = patient.machine();
    if (!machine.gpuDirectPossible()) {
      return List.of(
          Finding.skip(
              NAME, "", machine.gpus().isEmpty() ? "no GPU" : "no RDMA NIC for the GPUs", READ));
    }
    return machine.gpus().stream().map(gpu -> examine(gpu, machine)).toList();
  }

  private static Finding examine(Gpu gpu, Machine machine) {
    List<Path> paths = new ArrayList<>();
    for (Nic nic : machine.rdmaNics()) {
      paths.add(
          new Path(
              nic,
              nic.pci().map(pci -> Distance.between(gpu.pci(), pci)).orElse(Distance.UNKNOWN)));
    }
    paths.sort(Comparator.comparing(Path::distance));
    Distance nearest = paths.getFirst().distance();
    String nics =
        paths.stream()
            .filter(path -> path.distance() == nearest)
            .map(Path::nicName)
            .collect(Collectors.joining(", "));
    return switch (nearest) {
      case UNKNOWN ->
          Finding.warn(
              NAME,
              gpu.name(),
              "how far its NICs are is unknown: sysfs does not tell where the devices sit, as in"
                  + " many virtual machines",
              READ,
              "lspci -tv");
      case NODE, SYS ->
          Finding.warn(
              NAME,
              gpu.name(),
              "no NIC is nearer than %s (%s): GPUDirect is slow over it; %s"
                  .formatted(nearest, nics, elsewhere(machine)),
              READ,
              "lspci -tv; then move GPU or NIC to a slot of the same host bridge");
      case SELF, PIX, PXB, PHB ->
          Finding.pass(
              NAME, gpu.name(), "use %s: %s, %s".formatted(nics, nearest, nearest.quality()), READ);
    };
  }

  /** A text that says whether another GPU would be better. */
  private static String elsewhere(Machine machine) {
    String better =
        machine.gpus().stream()
            .filter(gpu -> near(gpu, machine))
            .map(Gpu::name)
            .collect(Collectors.joining(", "));
    return better.isEmpty() ? "no GPU is nearer to any" : "nearer to a NIC: " + better;
  }

  private static boolean near(Gpu gpu, Machine machine) {
    return machine.rdmaNics().stream()
        .flatMap(nic -> nic.pci().stream())
        .anyMatch(pci -> Distance.between(gpu.pci(), pci).compareTo(Distance.PHB) <= 0);
  }

  /** A NIC and its distance from a GPU. */
  private record Path(Nic nic, Distance distance) {
    String nicName() {
      return nic.up().orElse(true) ? nic.name() : nic.name() + " (link down)";
    }
  }
}
