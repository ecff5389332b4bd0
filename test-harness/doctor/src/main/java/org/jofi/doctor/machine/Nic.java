package org.jofi.doctor.machine;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A network card's function.
 *
 * @param name the RDMA device ({@code mlx5_0}, {@code cxi0}); else its interface; else its PCI
 *     address
 * @param folder its folder on the machine
 * @param rdma whether the kernel offers it for RDMA
 * @param pci the function; empty for a software device
 * @param firmware its firmware's version; empty if sysfs does not tell
 * @param interfaces its network interfaces
 * @param ports its RDMA ports
 */
public record Nic(
    String name,
    String folder,
    boolean rdma,
    Optional<PciDevice> pci,
    String firmware,
    List<NetInterface> interfaces,
    List<RdmaPort> ports) {

  private static final int LONGEST_LINE = 100;

  /** Name of its driver; empty if none is bound. */
  public String driver() {
    return pci.map(PciDevice::driver).orElse("");
  }

  /** Whether it has a link; empty if unknown. */
  public Optional<Boolean> up() {
    if (ports.stream().anyMatch(port -> !port.state().isEmpty())) {
      return Optional.of(ports.stream().anyMatch(RdmaPort::up));
    }
    return interfaces.stream().anyMatch(net -> !net.state().isEmpty())
        ? Optional.of(interfaces.stream().anyMatch(NetInterface::up))
        : Optional.empty();
  }

  /** Speed of its link, such as {@code 100 Gb/sec (4X EDR)}; empty if unknown. */
  public String speed() {
    String rates =
        ports.stream()
            .map(RdmaPort::rate)
            .filter(rate -> !rate.isEmpty())
            .distinct()
            .collect(Collectors.joining(", "));
    if (!rates.isEmpty()) {
      return rates;
    }
    return interfaces.stream()
        .filter(net -> net.megabitsPerSecond() > 0)
        .map(net -> net.megabitsPerSecond() / 1000.0)
        .distinct()
        .map(speed -> (speed == Math.rint(speed) ? "%.0f Gb/s" : "%.1f Gb/s").formatted(speed))
        .collect(Collectors.joining(", "));
  }

  static String shortLine(Reading reading) {
    String text = reading.text();
    return text.length() <= LONGEST_LINE && text.indexOf('\n') < 0 ? text : "";
  }
}
