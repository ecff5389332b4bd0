package org.jofi.rdma.topology;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.PciAddress;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Grouping;
import org.jofi.transport.TransportException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Devices on machines that are made up. */
class DeviceGroupingTest {
  private static final long GBIT = 1_000_000_000L;
  private static final Grouping LOCALITY = new Grouping.ByLocality();

  @TempDir Path root;
  private MadeUpSysfs sysfs;

  @BeforeEach
  void mount() {
    sysfs = new MadeUpSysfs(root);
  }

  private List<DeviceGroup> group(List<FabricInfo> nics, Grouping grouping, int maxRails) {
    return new DeviceGrouping(
            new SysfsPci(root), new SourceRoutes(root.resolve("fib_trie")), maxRails)
        .group(nics, grouping);
  }

  private static List<List<String>> names(List<DeviceGroup> devices) {
    return devices.stream()
        .map(device -> device.rails().stream().map(FabricInfo::domainName).toList())
        .toList();
  }

  private static FabricInfo tcp(String name) {
    return MadeUpSysfs.info("tcp", name, 100 * GBIT, Optional.empty());
  }

  private static FabricInfo efa(int bus) {
    return MadeUpSysfs.info(
        "efa", "rdmap" + bus, 100 * GBIT, Optional.of(new PciAddress(0, bus, 0, 0)));
  }

  /** As verbs lists them before libfabric 2.4. */
  @Test
  void whereAProviderTellsNoPlaceTheKernelDoes() {
    List<FabricInfo> nics = new ArrayList<>();
    for (int bus = 0xa; bus < 0xc; bus++) {
      sysfs.nic("infiniband", "mlx5_" + bus, "pci0000:00/0000:%02x:00.1".formatted(bus));
      nics.add(MadeUpSysfs.info("verbs;ofi_rxm", "mlx5_" + bus, 100 * GBIT, Optional.empty()));
    }
    List<DeviceGroup> devices = group(nics, LOCALITY, 8);
    assertEquals(List.of(List.of("mlx5_10", "mlx5_11")), names(devices));
    assertEquals(
        List.of(new PciAddress(0, 0xa, 0, 1), new PciAddress(0, 0xb, 0, 1)),
        devices.getFirst().paths().stream().map(path -> path.orElseThrow().address()).toList());
  }

  /** Two switches, each with two GPUs and four NICs. */
  private List<FabricInfo> twoSwitches() {
    for (int side = 0; side < 2; side++) {
      String up = "pci0000:%d0/0000:%d0:01.0/0000:%d1:00.0/".formatted(side, side, side);
      for (int port = 0; port < 6; port++) {
        int bus = side * 0x10 + 2 + port;
        String path = up + "0000:%d1:0%d.0/0000:%02x:00.0".formatted(side, port, bus);
        if (port < 2) {
          sysfs.gpu(path);
        } else {
          sysfs.device(path, "0x020000", side);
        }
      }
    }
    return IntStream.of(4, 5, 6, 7, 0x14, 0x15, 0x16, 0x17)
        .mapToObj(DeviceGroupingTest::efa)
        .toList();
  }

  @Test
  void nicsBelowOneSwitchAreSharedOutToItsGpus() {
    List<DeviceGroup> devices = group(twoSwitches(), LOCALITY, 8);
    assertEquals(
        List.of(
            List.of("rdmap4", "rdmap5"),
            List.of("rdmap6", "rdmap7"),
            List.of("rdmap20", "rdmap21"),
            List.of("rdmap22", "rdmap23")),
        names(devices));
    assertEquals("rdmap4+1", devices.getFirst().name());
    assertEquals(
        List.of(
            "Nearest to 2 GPU(s), below 0000:01:00.0.",
            "4 NICs are there, shared out to 2 devices."),
        devices.getFirst().reasons());
    assertEquals(1, devices.getLast().paths().getFirst().orElseThrow().numaNode());
  }

  @Test
  void theLimitOfRailsCutsDevicesFurther() {
    assertEquals(8, group(twoSwitches(), LOCALITY, 1).size());
    List<DeviceGroup> together = group(twoSwitchesAgain(), new Grouping.Together(), 3);
    assertEquals(List.of(2, 3, 3), together.stream().map(d -> d.rails().size()).toList());
    assertTrue(
        together.getFirst().reasons().getLast().contains("at most 3 rails"),
        together.getFirst().reasons()::toString);
  }

  private static List<FabricInfo> twoSwitchesAgain() {
    return IntStream.of(4, 5, 6, 7, 0x14, 0x15, 0x16, 0x17)
        .mapToObj(DeviceGroupingTest::efa)
        .toList();
  }

  @Test
  void withoutGpusTheHostBridgeDecides() {
    sysfs.nic("eth0", "pci0000:00/0000:00:01.0/0000:01:00.0");
    sysfs.nic("eth1", "pci0000:00/0000:00:02.0/0000:02:00.0");
    sysfs.nic("eth2", "pci0000:80/0000:80:01.0/0000:81:00.0");
    List<DeviceGroup> devices =
        group(List.of(tcp("eth2"), tcp("eth1"), tcp("eth0"), tcp("lo")), LOCALITY, 8);
    assertEquals(List.of(List.of("eth2"), List.of("eth0", "eth1"), List.of("lo")), names(devices));
    assertTrue(devices.getLast().reasons().getFirst().startsWith("No PCI locality is known"));
  }

  @Test
  void nicsInOneSubnetAreRailsOnlyIfTheyAreNamed() {
    sysfs.nic("eth0", "pci0000:00/0000:00:01.0/0000:01:00.0");
    sysfs.nic("eth1", "pci0000:00/0000:00:02.0/0000:02:00.0");
    sysfs.nic("eth2", "pci0000:00/0000:00:03.0/0000:03:00.0");
    List<FabricInfo> nics =
        List.of(in("10.0.0.0/24", "eth0"), in("10.0.0.0/24", "eth1"), in("10.0.1.0/24", "eth2"));
    for (Grouping grouping : List.of(LOCALITY, new Grouping.Together())) {
      List<DeviceGroup> devices = group(nics, grouping, 8);
      assertEquals(List.of(List.of("eth0", "eth2"), List.of("eth1")), names(devices));
      String why = devices.getLast().reasons().getLast();
      assertTrue(why.startsWith("In a subnet of another device's"), why);
    }
    Grouping named = new Grouping.Explicit(List.of(List.of("eth1", "eth0")));
    assertEquals(List.of(List.of("eth1", "eth0")), names(group(nics, named, 8)));
  }

  /**
   * As the kernel prints it after {@code ip route add 10.0.0.0/24 dev eth1 table 101}, and other
   * tables.
   */
  @Test
  void nicsInOneSubnetAreRailsIfRoutesDependOnTheSource() throws IOException {
    String tables =
        """
        Id 101:
          |-- 10.0.0.0
             /24 link UNICAST
        Id 102:
          +-- 10.0.0.0/15 2 0 2
             |-- %s
                /24 link UNICAST
             |-- 10.1.0.0
                /16 link UNICAST
        Main:
          |-- 10.0.0.0
             /24 link UNICAST
             /24 link UNICAST
        Local:
          +-- 0.0.0.0/1 2 0 2
             +-- 10.0.0.0/24 2 0 2
                |-- 10.0.0.1
                   /32 host LOCAL
        """;
    sysfs.nic("eth0", "pci0000:00/0000:00:01.0/0000:01:00.0");
    sysfs.nic("eth1", "pci0000:00/0000:00:02.0/0000:02:00.0");
    sysfs.nic("eth2", "pci0000:00/0000:00:03.0/0000:03:00.0");
    List<FabricInfo> two = List.of(in("10.0.0.0/24", "eth0"), in("10.0.0.0/24", "eth1"));
    List<FabricInfo> three = List.of(two.getFirst(), two.getLast(), in("10.0.0.0/24", "eth2"));
    Files.writeString(root.resolve("fib_trie"), tables.formatted("10.0.9.0"));
    assertEquals(List.of(List.of("eth0", "eth1")), names(group(two, LOCALITY, 8)));
    assertEquals(3, group(three, LOCALITY, 8).size(), "one table for two");
    Files.writeString(root.resolve("fib_trie"), tables.formatted("10.0.0.0"));
    assertEquals(List.of(List.of("eth0", "eth1", "eth2")), names(group(three, LOCALITY, 8)));
  }

  private static FabricInfo in(String subnet, String name) {
    FabricInfo nic = tcp(name);
    return FabricInfo.builder(nic.provider(), subnet, name).limits(nic.limits()).build();
  }

  @Test
  void aNicFarFromEveryGpuIsOnItsOwn() {
    sysfs.gpu("pci0000:00/0000:00:01.0/0000:01:00.0");
    sysfs.nic("near", "pci0000:00/0000:00:02.0/0000:02:00.0");
    sysfs.nic("far0", "pci0000:80/0000:80:01.0/0000:81:00.0");
    sysfs.nic("far1", "pci0000:80/0000:80:02.0/0000:82:00.0");
    List<DeviceGroup> devices = group(List.of(tcp("far0"), tcp("near"), tcp("far1")), LOCALITY, 8);
    assertEquals(List.of(List.of("far0"), List.of("far1"), List.of("near")), names(devices));
    assertTrue(devices.getFirst().reasons().getFirst().startsWith("No GPU is below"));
  }

  @Test
  void unequalSpeedsAreTolerated() {
    FabricInfo slow = MadeUpSysfs.info("tcp", "slow", 25 * GBIT, Optional.empty());
    FabricInfo odd = MadeUpSysfs.info("tcp", "odd", 0, Optional.empty());
    DeviceGroup device =
        group(List.of(tcp("fast"), slow, odd), new Grouping.Together(), 8).getFirst();
    assertArrayEquals(new long[] {100 * GBIT, 25 * GBIT, 0}, device.speeds());
    assertEquals(
        "Its rails' speeds differ, and stripes follow them: 1 at unknown speed, taken as the"
            + " slowest, 1 at 25000 Mbit/s, 1 at 100000 Mbit/s.",
        device.reasons().getLast());
  }

  @Test
  void nicsThatAreNotAlikeAreNeverTogether() {
    FabricInfo virtual =
        MadeUpSysfs.info("tcp", "virtual", GBIT, Optional.empty(), Set.of(MrMode.VIRT_ADDR));
    FabricInfo shm = MadeUpSysfs.info("shm", "shm", 0, Optional.empty());
    List<FabricInfo> nics = List.of(tcp("a"), virtual, shm, tcp("b"));
    assertEquals(
        List.of(List.of("a", "b"), List.of("virtual"), List.of("shm")),
        names(group(nics, new Grouping.Together(), 8)));
    TransportException refusal =
        assertThrows(
            TransportException.class,
            () -> group(nics, new Grouping.Explicit(List.of(List.of("a", "shm"))), 8));
    assertEquals(FailureCause.UNAVAILABLE, refusal.failure().cause());
    assertTrue(refusal.getMessage().contains("shm is"), refusal.getMessage());
  }

  @Test
  void whatIsListedIsTakenAsListedEvenTwice() {
    List<FabricInfo> nics = List.of(tcp("a"), tcp("b"), tcp("c"));
    Grouping listed = new Grouping.Explicit(List.of(List.of("c", "a"), List.of("a", "a")));
    assertEquals(List.of(List.of("c", "a"), List.of("a", "a")), names(group(nics, listed, 8)));
    Grouping alike =
        new Grouping.Explicit(
            List.of(List.of("a"), List.of("a", "b"), List.of("a"), List.of("a", "c")));
    assertEquals(
        List.of("a", "a+1", "a#2", "a+1#2"),
        group(nics, alike, 8).stream().map(DeviceGroup::name).toList());
    TransportException refusal =
        assertThrows(
            TransportException.class,
            () -> group(nics, new Grouping.Explicit(List.of(List.of("d"))), 8));
    assertEquals("no NIC d; there are [a, b, c]", refusal.getMessage());
  }

  @Test
  void eachNicCanBeADevice() {
    assertEquals(8, group(twoSwitches(), new Grouping.EachNic(), 8).size());
    assertEquals(List.of(), group(List.of(), LOCALITY, 8));
  }

  @Test
  void namesFromAProviderDoNotLeaveSysfs() {
    sysfs.nic("eth0", "pci0000:00/0000:00:01.0/0000:01:00.0");
    SysfsPci pci = new SysfsPci(root);
    assertTrue(pci.locate(tcp("eth0")).isPresent());
    for (String name : List.of("", "..", "../net/eth0", "/sys", "nothing")) {
      assertEquals(Optional.empty(), pci.locate(tcp(name)), name);
    }
    assertEquals(List.of(), new SysfsPci(root.resolve("nothing")).accelerators());
  }

  @Test
  void onlyTheInnerHostBridgeOfAPathCounts() {
    sysfs.nic("eth0", "pci0000:00/0000:00:0e.0/pci10000:80/10000:80:01.0/10000:81:00.0");
    assertEquals(
        "pci10000:80/10000:80:01.0/10000:81:00.0",
        new SysfsPci(root).locate(tcp("eth0")).orElseThrow().toString());
  }
}
