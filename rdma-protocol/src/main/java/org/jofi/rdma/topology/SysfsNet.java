package org.jofi.rdma.topology;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jofi.fabric.FabricInfo;

/**
 * Reads from sysfs what stands behind a network interface. By name alone a bridge of containers
 * ({@code docker0}) or a tunnel ({@code tun0}) comes before {@code eth0}, and reaches nobody.
 */
public final class SysfsNet {
  /** What stands behind an interface; whoever is to be reached first, the best first. */
  public enum NicKind {
    /** A card; or a bond, a VLAN or a bridge over one. Also whatever is no interface: EFA, CXI. */
    CARD,
    /** The kernel, such as one end of a container's pair. */
    KERNEL,
    /** Another network: a bridge that no card belongs to, a tunnel or a VPN. */
    ANOTHER_NETWORK,
    /** This machine alone. */
    LOOPBACK
  }

  /** What ARPHRD_LOOPBACK is in if_arp.h, and the numbers of tunnels. */
  private static final String LOOPBACK_TYPE = "772";

  private static final Set<String> TUNNEL_TYPES =
      Set.of("512", "768", "769", "776", "778", "823", "65534");

  /** What the kernel calls interfaces that carry packets inside of others. */
  private static final Set<String> TUNNELS =
      Set.of("vxlan", "geneve", "wireguard", "gtp", "bareudp", "wwan", "ppp");

  private static final String LOOPBACK_NAME = "lo";
  private static final int MOST_LAYERS = 4;

  private final Path root;

  /**
   * @param root what is mounted at /sys
   */
  public SysfsNet(Path root) {
    this.root = root;
  }

  /** What stands behind a NIC. */
  public NicKind kind(FabricInfo nic) {
    String name = nic.domainName();
    if (name.equals(LOOPBACK_NAME)) {
      return NicKind.LOOPBACK;
    }
    return SysfsPci.isName(name) && Files.isDirectory(folder(name))
        ? kind(name, MOST_LAYERS)
        : NicKind.CARD;
  }

  private NicKind kind(String name, int layers) {
    Path folder = folder(name);
    String type = SysfsPci.read(folder.resolve("type"));
    String kind = devtype(folder);
    if (type.equals(LOOPBACK_TYPE)) {
      return NicKind.LOOPBACK;
    }
    if (TUNNEL_TYPES.contains(type)
        || TUNNELS.contains(kind)
        || Files.exists(folder.resolve("tun_flags"))) {
      return NicKind.ANOTHER_NETWORK;
    }
    boolean card =
        Files.exists(folder.resolve("device"))
            || (layers > 0
                && below(folder).stream()
                    .anyMatch(lower -> kind(lower, layers - 1) == NicKind.CARD));
    if (card) {
      return NicKind.CARD;
    }
    return Files.isDirectory(folder.resolve("bridge")) ? NicKind.ANOTHER_NETWORK : NicKind.KERNEL;
  }

  /** The interfaces that one lies over: links named {@code lower_} and a name. */
  private List<String> below(Path folder) {
    return SysfsPci.list(folder, "lower_*").stream()
        .map(link -> link.getFileName().toString().substring("lower_".length()))
        .filter(name -> SysfsPci.isName(name) && Files.isDirectory(folder(name)))
        .toList();
  }

  private static String devtype(Path folder) {
    return SysfsPci.read(folder.resolve("uevent"))
        .lines()
        .filter(line -> line.startsWith("DEVTYPE="))
        .map(line -> line.substring("DEVTYPE=".length()))
        .findFirst()
        .orElse("");
  }

  private Path folder(String name) {
    return root.resolve("class/net").resolve(name);
  }
}
