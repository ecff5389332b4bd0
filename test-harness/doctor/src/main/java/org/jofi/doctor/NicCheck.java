package org.jofi.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jofi.doctor.machine.Machine;
import org.jofi.doctor.machine.Nic;
import org.jofi.doctor.machine.PciDevice;

/** Checks whether there is an RDMA NIC, and whether each NIC has a driver and a link. */
final class NicCheck implements Check {
  private static final String NAME = "nic";

  /** Drivers of cards that can do RDMA, each with the kernel module that adds it. */
  private static final Map<String, String> RDMA_MODULES =
      Map.of("mlx5_core", "mlx5_ib", "mlx4_core", "mlx4_ib");

  @Override
  public List<Finding> examine(Patient patient) {
    Machine machine = patient.machine();
    List<Finding> findings = new ArrayList<>();
    if (machine.rdmaNics().isEmpty()) {
      findings.add(
          Finding.warn(
              NAME,
              "",
              "no RDMA NIC: libfabric is left with tcp and shm, and GPU memory is staged through"
                  + " the host",
              List.of("/sys/class/infiniband", "/sys/class/cxi"),
              "lspci -nn -d ::0200; lspci -nn -d ::0207; then load the NIC's driver, such as"
                  + " sudo modprobe mlx5_ib"));
    }
    machine.nics().forEach(nic -> findings.add(examine(nic)));
    return findings;
  }

  private static Finding examine(Nic nic) {
    List<String> read = List.of(nic.folder());
    if (nic.pci().isPresent() && nic.driver().isEmpty()) {
      return Finding.fail(
          NAME,
          nic.name(),
          "no driver is bound to it",
          read,
          "echo %s | sudo tee /sys/bus/pci/drivers_probe; dmesg | grep %s"
              .formatted(address(nic), address(nic)));
    }
    String module = RDMA_MODULES.get(nic.driver());
    if (!nic.rdma() && module != null) {
      return Finding.warn(
          NAME,
          nic.name(),
          "driver %s without %s: the kernel does not offer it for RDMA"
              .formatted(nic.driver(), module),
          read,
          "sudo modprobe " + module);
    }
    String link = nic.speed().isEmpty() ? "" : ", " + nic.speed();
    if (!nic.rdma()) {
      return Finding.pass(
          NAME,
          nic.name(),
          nic.interfaces().isEmpty()
              ? "not for RDMA: driver " + nic.driver() + ", no network interface"
              : "not for RDMA: for the tcp provider alone; driver "
                  + nic.driver()
                  + nic.up().map(up -> up ? ", link up" : ", link down").orElse("")
                  + link,
          read);
    }
    String driver = nic.driver().isEmpty() ? "software device" : "driver " + nic.driver();
    String firmware = nic.firmware().isEmpty() ? "" : ", firmware " + nic.firmware();
    if (nic.up().isEmpty()) {
      return Finding.warn(
          NAME,
          nic.name(),
          driver + firmware + "; sysfs does not tell whether it has a link",
          read,
          "rdma link show " + nic.name());
    }
    if (!nic.up().get()) {
      return Finding.warn(
          NAME,
          nic.name(),
          driver + firmware + "; its link is down, so it is no rail",
          read,
          nic.interfaces().isEmpty()
              ? "check the cable and the subnet manager: ibstat " + nic.name()
              : "sudo ip link set %s up; then check the cable: ethtool %s"
                  .formatted(
                      nic.interfaces().getFirst().name(), nic.interfaces().getFirst().name()));
    }
    return Finding.pass(NAME, nic.name(), driver + firmware + ", link up" + link, read);
  }

  private static String address(Nic nic) {
    return nic.pci().map(PciDevice::address).orElse("");
  }
}
