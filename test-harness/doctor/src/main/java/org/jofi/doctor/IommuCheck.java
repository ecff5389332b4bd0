package org.jofi.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jofi.doctor.machine.Gpu;
import org.jofi.doctor.machine.Machine;
import org.jofi.doctor.machine.MachineFiles;
import org.jofi.doctor.machine.PciDevice;

/** Checks whether an IOMMU translates the addresses that GPUs and NICs use. */
final class IommuCheck implements Check {
  private static final String NAME = "iommu";
  private static final String GROUPS = "/sys/kernel/iommu_groups";
  private static final String COMMAND_LINE = "/proc/cmdline";
  private static final String REMEDY =
      "sudo grubby --update-kernel=ALL --args=iommu=pt (Debian, Ubuntu: add iommu=pt to"
          + " GRUB_CMDLINE_LINUX in /etc/default/grub; sudo update-grub), then sudo reboot";
  private static final Pattern PASS_THROUGH =
      Pattern.compile("(^|\\s)(iommu=pt|iommu\\.passthrough=(1|on|y))(\\s|$)");

  /** How an IOMMU treats a device's addresses. */
  private enum Mode {
    PASS_THROUGH,
    TRANSLATED,
    UNKNOWN
  }

  @Override
  public List<Finding> examine(Patient patient) {
    return List.of(finding(patient.machine()));
  }

  private static Finding finding(Machine machine) {
    MachineFiles files = machine.files();
    List<String> groups = files.list(GROUPS);
    if (groups.isEmpty()) {
      return Finding.pass(
          NAME, "", "off: the kernel has no IOMMU groups", List.of(GROUPS, COMMAND_LINE));
    }
    Set<String> translated = new TreeSet<>();
    Set<String> unknown = new TreeSet<>();
    List<String> read = new ArrayList<>(List.of(COMMAND_LINE));
    for (PciDevice device : concerned(machine)) {
      String group = device.iommuGroup();
      if (group.isEmpty()) {
        continue;
      }
      String type = GROUPS + "/" + group + "/type";
      read.add(type);
      switch (mode(files, type)) {
        case TRANSLATED -> translated.add(device.address());
        case UNKNOWN -> unknown.add(device.address());
        case PASS_THROUGH -> {}
      }
    }
    if (!translated.isEmpty()) {
      return translated(machine, translated, read);
    }
    if (!unknown.isEmpty()) {
      return Finding.warn(
          NAME,
          "",
          "on, and it is not told whether it translates for " + String.join(", ", unknown),
          read,
          "cat /proc/cmdline; sudo dmesg | grep -i iommu");
    }
    return read.size() == 1
        ? Finding.pass(NAME, "", "on, for no GPU or NIC", List.of(GROUPS, COMMAND_LINE))
        : Finding.pass(NAME, "", "passthrough for GPUs and NICs", read);
  }

  private static List<PciDevice> concerned(Machine machine) {
    return Stream.concat(
            machine.gpus().stream().map(Gpu::pci),
            machine.nics().stream().flatMap(nic -> nic.pci().stream()))
        .collect(Collectors.toList());
  }

  private static Mode mode(MachineFiles files, String type) {
    return switch (files.read(type).text()) {
      case "identity" -> Mode.PASS_THROUGH;
      case "DMA", "DMA-FQ" -> Mode.TRANSLATED;
      // Kernels before 5.11 do not report the type.
      default ->
          PASS_THROUGH.matcher(files.read(COMMAND_LINE).text()).find()
              ? Mode.PASS_THROUGH
              : Mode.UNKNOWN;
    };
  }

  private static Finding translated(Machine machine, Set<String> devices, List<String> read) {
    String which = "translates addresses for " + String.join(", ", devices);
    return machine.gpuDirectPossible()
        ? Finding.fail(
            NAME,
            "",
            which + ": GPUDirect needs a GPU's address to be the same for the NIC",
            read,
            REMEDY)
        : Finding.pass(
            NAME, "", which + ", which matters to GPUDirect alone, and there is none", read);
  }
}
