package org.jofi.doctor;

import java.nio.file.Path;
import org.jofi.doctor.MachineTree.Place;
import org.jofi.doctor.MachineTree.Port;

/**
 * Machines that people described publicly, and two that nobody complained of. What a description
 * does not tell, such as the bridges between a processor and a card, is as machines of that kind
 * have it.
 */
final class Machines {
  static final String A100 = "10de:20b5";
  private static final long GIB = 1L << 30;

  private Machines() {}

  /** Two GPUs and two NICs, one of each below a switch of each processor; all is well. */
  static MachineTree healthy(Path folder) {
    MachineTree tree = new MachineTree(folder);
    Place first = new Place(0, "0-31");
    Place second = new Place(1, "32-63");
    return tree.kernel("6.1.0-18-amd64", "root=/dev/sda1 ro quiet", "nvidia_peermem", "nvidia")
        .limits("unlimited", "1048576")
        .write(
            "/proc/self/net/route",
            """
            ib0\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
            ib1\t0001000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
            """)
        .hugePages(1024, 1000)
        .nvidia("550.54.15", false)
        .gpu(
            "pci0000:16/0000:16:02.0/0000:17:00.0/0000:18:00.0/0000:19:00.0",
            A100,
            "NVIDIA A100-SXM4-80GB",
            128 * GIB,
            first)
        .rdmaNic(
            "pci0000:16/0000:16:02.0/0000:17:00.0/0000:18:01.0/0000:1a:00.0",
            "15b3:101b",
            new Port("mlx5_0", "ib0", "0c:42:a1:00:00:01", "20.31.1014", true, 200),
            first)
        .gpu(
            "pci0000:64/0000:64:02.0/0000:65:00.0/0000:66:00.0/0000:67:00.0",
            A100,
            "NVIDIA A100-SXM4-80GB",
            128 * GIB,
            second)
        .rdmaNic(
            "pci0000:64/0000:64:02.0/0000:65:00.0/0000:66:01.0/0000:68:00.0",
            "15b3:101b",
            new Port("mlx5_1", "ib1", "0c:42:a1:00:00:02", "20.31.1014", true, 200),
            second);
  }

  /** Neither GPU nor RDMA NIC. */
  static MachineTree plain(Path folder) {
    return new MachineTree(folder)
        .kernel("6.1.0-18-amd64", "root=/dev/vda1 ro", "virtio_net")
        .limits("8388608", "1048576")
        .hugePages(16, 16)
        .netdev(
            "pci0000:00/0000:00:03.0",
            "1af4:1000",
            "virtio-pci",
            new Port("", "eth0", "06:00:00:00:00:01", "", true, 10),
            new Place(-1, "0-1"));
  }

  /** Dual Xeon 4112, V100: PIX to one GPU, SYS to the other. */
  static MachineTree dualV100(Path folder) {
    return new MachineTree(folder)
        .kernel("5.4.0-150-generic", "root=/dev/sda1 ro", "nvidia_peermem", "nvidia")
        .limits("unlimited", "1048576")
        .hugePages(0, 0)
        .nvidia("470.182.03", false)
        .gpu(
            "pci0000:17/0000:17:00.0/0000:18:00.0/0000:19:08.0/0000:1a:00.0",
            "10de:1db6",
            "Tesla V100-PCIE-32GB",
            32 * GIB,
            new Place(0, "0-3,8-11"))
        .rdmaNic(
            "pci0000:17/0000:17:00.0/0000:18:00.0/0000:19:10.0/0000:1b:00.0",
            "15b3:1017",
            new Port("mlx5_0", "ens1", "0c:42:a1:00:01:01", "16.35.2000", true, 100),
            new Place(0, "0-3,8-11"))
        .gpu(
            "pci0000:ae/0000:ae:00.0/0000:af:00.0",
            "10de:1db6",
            "Tesla V100-PCIE-32GB",
            32 * GIB,
            new Place(1, "4-7,12-15"));
  }

  /** EPYC 7763, four A100s; the two ports of the NIC share a host bridge with one of them. */
  static MachineTree epyc(Path folder) {
    Place anywhere = new Place(-1, "0-127");
    MachineTree tree =
        new MachineTree(folder)
            .kernel("5.15.0-73-generic", "root=/dev/nvme0n1p2 ro iommu=pt", "nvidia_peermem")
            .limits("unlimited", "1048576")
            .hugePages(0, 0)
            .nvidia("530.30.02", false);
    for (String path :
        new String[] {
          "pci0000:00/0000:00:01.1/0000:01:00.0",
          "pci0000:40/0000:40:01.1/0000:41:00.0",
          "pci0000:80/0000:80:01.1/0000:81:00.0",
          "pci0000:c0/0000:c0:01.1/0000:c1:00.0"
        }) {
      tree.gpu(path, A100, "NVIDIA A100-SXM4-80GB", 128 * GIB, anywhere);
    }
    for (int port = 0; port < 2; port++) {
      tree.rdmaNic(
          "pci0000:80/0000:80:03.1/0000:82:00." + port,
          "15b3:1017",
          new Port(
              "mlx5_" + port,
              "enp130s0f" + port,
              "0c:42:a1:00:02:0" + port,
              "16.35.2000",
              true,
              100),
          anywhere);
    }
    return tree;
  }

  /** Dual Xeon E5-2630 v4, P100 and NIC on different processors. */
  static MachineTree dualP100(Path folder) {
    return new MachineTree(folder)
        .kernel("4.15.0-213-generic", "root=/dev/sda1 ro", "nvidia")
        .limits("65536", "1048576")
        .hugePages(0, 0)
        .nvidia("470.182.03", false)
        .gpu(
            "pci0000:00/0000:00:03.0/0000:04:00.0",
            "10de:15f8",
            "Tesla P100-PCIE-16GB",
            16 * GIB,
            new Place(0, "0-9,20-29"))
        .rdmaNic(
            "pci0000:80/0000:80:02.0/0000:82:00.0",
            "15b3:1017",
            new Port("mlx5_0", "enp130s0", "0c:42:a1:00:03:01", "16.35.2000", true, 100),
            new Place(1, "10-19,30-39"));
  }

  /**
   * Dell R750, A100, ConnectX-6 Dx and ConnectX-5 Ex, after a boot: its owner loads nvidia_peermem
   * by hand each time. The description names three RDMA devices, with mlx5_3 at the first port of
   * the ConnectX-5; mlx5_2 is the name that is left for the other.
   */
  static MachineTree r750(Path folder) {
    Place second = new Place(1, "1,3,5,7,9,11,13,15");
    Place first = new Place(0, "0,2,4,6,8,10,12,14");
    String broadcom = "pci0000:00/0000:00:1c.4/0000:04:00.";
    String intel = "pci0000:30/0000:30:02.0/0000:31:00.";
    String six = "pci0000:97/0000:97:02.0/0000:98:00.";
    String five = "pci0000:b0/0000:b0:02.0/0000:b1:00.";
    return new MachineTree(folder)
        .kernel("4.18.0-348.el8.x86_64", "root=/dev/mapper/rhel-root ro", "nvidia", "mlx5_core")
        .limits("unlimited", "262144")
        .hugePages(0, 0)
        .nvidia("495.29.05", false)
        .netdev(
            broadcom + 0, "14e4:165f", "tg3", port("", "eno8303", "b0:7b:25:f8:44:d2", true), first)
        .netdev(
            broadcom + 1,
            "14e4:165f",
            "tg3",
            port("", "eno8403", "b0:7b:25:f8:44:d3", false),
            first)
        .netdev(
            intel + 0, "8086:159b", "ice", port("", "eno12399", "b4:96:91:cd:e8:ac", false), first)
        .netdev(
            intel + 1, "8086:159b", "ice", port("", "eno12409", "b4:96:91:cd:e8:ad", false), first)
        .rdmaNic(six + 0, "15b3:101d", port("mlx5_0", "ens6f0", "b8:ce:f6:cc:9e:dc", false), second)
        .rdmaNic(six + 1, "15b3:101d", port("mlx5_1", "ens6f1", "b8:ce:f6:cc:9e:dd", true), second)
        .rdmaNic(five + 0, "15b3:1019", port("mlx5_3", "ens5f0", "0c:42:a1:73:8d:e6", true), second)
        .rdmaNic(
            five + 1, "15b3:1019", port("mlx5_2", "ens5f1", "0c:42:a1:73:8d:e7", false), second)
        .gpu(
            "pci0000:c9/0000:c9:02.0/0000:ca:00.0",
            "10de:20f1",
            "NVIDIA A100-PCIE-40GB",
            64 * GIB,
            second);
  }

  private static Port port(String rdma, String net, String mac, boolean up) {
    boolean six = net.startsWith("ens6");
    return new Port(
        rdma, net, mac, six ? "22.31.1014" : "16.27.6106", up, rdma.isEmpty() ? 1 : 100);
  }
}
