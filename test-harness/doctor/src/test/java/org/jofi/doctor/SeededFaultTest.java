package org.jofi.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jofi.doctor.MachineTree.Place;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * One fault at a time in a machine that is well: the doctor names it and its remedy, and no other
 * check changes its mind.
 */
class SeededFaultTest {
  private static final String SWITCH = "0000:18:00.0";
  private static final String GPU1 = "0000:67:00.0";
  private static final String GPU1_SWITCHED =
      "/sys/devices/pci0000:64/0000:64:02.0/0000:65:00.0/0000:66:00.0/" + GPU1;
  private static final String BUS = "/sys/bus/pci/devices/";

  /** With a default route, a network of its own, and addresses of links. */
  private static final String TWO_IN_ONE_SUBNET =
      """
      Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
      a0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0
      a0\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
      a1\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
      b0\t0000000B\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
      a0\t0000FEA9\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
      a1\t0000FEA9\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
      """;

  /**
   * A fault.
   *
   * @param name in words
   * @param seed puts it into the machine
   * @param changed the findings that it is to change, and into what
   * @param named what the first of them has to say
   * @param remedy what the first of them has to tell to type
   */
  record Fault(
      String name,
      Consumer<MachineTree> seed,
      Map<String, Verdict> changed,
      String named,
      String remedy) {

    static Fault of(
        String name,
        Consumer<MachineTree> seed,
        String title,
        Verdict verdict,
        String named,
        String remedy) {
      return new Fault(name, seed, Map.of(title, verdict), named, remedy);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Fault> faults() {
    return Stream.of(pciFaults(), gpuFaults(), nicFaults(), hostFaults()).flatMap(faults -> faults);
  }

  private static Stream<Fault> pciFaults() {
    return Stream.of(
        Fault.of(
            "ACS on a switch",
            tree -> tree.config(SWITCH, ConfigBytes.bridge(0x1d)),
            "acs",
            Verdict.FAIL,
            "0000:18:00.0 (SrcValid+ ReqRedir+ CmpltRedir+ UpstreamFwd+)",
            "sudo setpci -s 0000:18:00.0 ECAP_ACS+6.w=0000"),
        Fault.of(
            "egress control of ACS",
            tree -> tree.config(SWITCH, ConfigBytes.bridge(0x20)),
            "acs",
            Verdict.FAIL,
            "EgressCtrl+",
            "setpci"),
        Fault.of(
            "ACS on a root port that only long paths take",
            tree -> tree.config("0000:16:02.0", ConfigBytes.bridge(0x1d)),
            "acs",
            Verdict.WARN,
            "0000:16:02.0",
            "sudo setpci -s 0000:16:02.0 ECAP_ACS+6.w=0000"),
        Fault.of(
            "config space as a user sees it",
            tree -> tree.config(SWITCH, ConfigBytes.asUser()),
            "acs",
            Verdict.WARN,
            "only root may read beyond 64 bytes",
            "sudo ./jofi doctor"),
        Fault.of(
            "no config space",
            tree -> tree.remove(BUS + SWITCH + "/config"),
            "acs",
            Verdict.WARN,
            "/config is not there",
            "sudo ./jofi doctor"),
        Fault.of(
            "a config space without its extended part",
            tree -> tree.config(SWITCH, new byte[256]),
            "acs",
            Verdict.WARN,
            "its extended part is not reachable",
            "sudo"),
        Fault.of(
            "capabilities without end",
            tree -> tree.config(SWITCH, ConfigBytes.endless()),
            "acs",
            Verdict.WARN,
            "its list of capabilities does not end",
            "lspci"),
        Fault.of(
            "a bridge that does not answer",
            tree -> tree.config(SWITCH, ConfigBytes.silent()),
            "acs",
            Verdict.WARN,
            "it does not answer",
            "lspci"),
        Fault.of(
            "an IOMMU that translates",
            tree -> tree.iommuGroup(GPU1, 7, "DMA-FQ"),
            "iommu",
            Verdict.FAIL,
            "translates addresses for " + GPU1,
            "iommu=pt"),
        Fault.of(
            "an IOMMU that does not tell",
            tree -> tree.iommuGroup(GPU1, 7, "\u0007garbage"),
            "iommu",
            Verdict.WARN,
            "not told whether it translates for " + GPU1,
            "cat /proc/cmdline"));
  }

  private static Stream<Fault> gpuFaults() {
    return Stream.of(
        Fault.of(
            "nvidia_peermem is not loaded",
            tree -> tree.write("/proc/modules", "nvidia 65536 0 - Live 0x0\n"),
            "peermem",
            Verdict.FAIL,
            "neither nvidia_peermem nor nv_peer_mem is loaded",
            "sudo modprobe nvidia_peermem"),
        Fault.of(
            "no list of modules",
            tree -> tree.remove("/proc/modules"),
            "peermem",
            Verdict.WARN,
            "/proc/modules is not there",
            "lsmod"),
        Fault.of(
            "a GPU far from all NICs",
            tree -> {
              tree.remove(BUS + GPU1).remove(GPU1_SWITCHED);
              tree.gpu(
                  "pci0000:80/" + GPU1.replace("67", "80").replace("00.0", "02.0") + "/" + GPU1,
                  Machines.A100,
                  "NVIDIA A100-SXM4-80GB",
                  128L << 30,
                  new Place(2, "64-95"));
            },
            "path GPU1",
            Verdict.WARN,
            "no NIC is nearer than SYS",
            "move GPU or NIC"),
        Fault.of(
            "a GPU that sits nowhere",
            tree -> {
              tree.remove(BUS + GPU1).remove(GPU1_SWITCHED);
              tree.folder(BUS + GPU1)
                  .write(BUS + GPU1 + "/class", "0x030200\n")
                  .write(BUS + GPU1 + "/vendor", "0x10de\n")
                  .bar1(GPU1, 1L << 36)
                  .link(BUS + GPU1 + "/driver", "/sys/bus/pci/drivers/nvidia");
            },
            "path GPU1",
            Verdict.WARN,
            "how far its NICs are is unknown",
            "lspci -tv"),
        Fault.of(
            "a small BAR1",
            tree -> tree.bar1(GPU1, 256L << 20),
            "bar1 GPU1",
            Verdict.WARN,
            "256 MiB",
            "Resizable BAR"),
        Fault.of(
            "a BAR1 without an address",
            tree -> tree.bar1(GPU1, 0),
            "bar1 GPU1",
            Verdict.FAIL,
            "has no address",
            "Above 4G Decoding"),
        Fault.of(
            "a BAR1 without an address, behind a window of two registers",
            tree -> tree.wideBar1(GPU1, 0),
            "bar1 GPU1",
            Verdict.FAIL,
            "has no address",
            "Above 4G Decoding"),
        Fault.of(
            "memory windows that make no sense",
            tree -> tree.write(BUS + GPU1 + "/resource", "0xzz\n0x10 0x01 0x0\n"),
            "bar1 GPU1",
            Verdict.WARN,
            "no memory window",
            "nvidia-smi"),
        Fault.of(
            "a GPU without a driver",
            tree -> tree.remove(BUS + GPU1 + "/driver"),
            "gpu GPU1",
            Verdict.FAIL,
            "no driver is bound",
            "sudo modprobe nvidia"),
        Fault.of(
            "a GPU with another driver",
            tree ->
                tree.folder("/sys/bus/pci/drivers/nouveau")
                    .link(BUS + GPU1 + "/driver", "/sys/bus/pci/drivers/nouveau"),
            "gpu GPU1",
            Verdict.FAIL,
            "driver nouveau is bound to it",
            "blacklist nouveau"),
        Fault.of(
            "a GPU of a line without GPUDirect",
            tree ->
                tree.write(
                    "/proc/driver/nvidia/gpus/" + GPU1 + "/information",
                    "Model: \t\t NVIDIA GeForce RTX 3090\n"),
            "gpu GPU1",
            Verdict.WARN,
            "NVIDIA GeForce RTX 3090",
            "./jofi verify-gpu"));
  }

  private static Stream<Fault> nicFaults() {
    String nic = "/sys/class/infiniband/mlx5_1";
    return Stream.of(
        Fault.of(
            "a NIC without a link",
            tree -> tree.write(nic + "/ports/1/state", "1: DOWN\n"),
            "nic mlx5_1",
            Verdict.WARN,
            "its link is down",
            "sudo ip link set ib1 up"),
        Fault.of(
            "a NIC that does not tell its state",
            tree -> tree.remove(nic + "/ports").remove("/sys/class/net/ib1/operstate"),
            "nic mlx5_1",
            Verdict.WARN,
            "does not tell whether it has a link",
            "rdma link show mlx5_1"),
        Fault.of(
            "a NIC without a driver",
            tree -> tree.remove(BUS + "0000:68:00.0/driver"),
            "nic mlx5_1",
            Verdict.FAIL,
            "no driver is bound",
            "drivers_probe"));
  }

  private static Stream<Fault> hostFaults() {
    return Stream.of(
        new Fault(
            "an old kernel",
            tree -> tree.write("/proc/sys/kernel/osrelease", "5.4.0-150-generic\n"),
            // It neither takes dma-buf nor copies on fork: two checks, of one cause.
            Map.of("kernel", Verdict.WARN, "fork", Verdict.SKIP),
            "Linux 5.4 is older than 5.12",
            "modprobe nvidia_peermem"),
        new Fault(
            "a kernel of no version",
            tree -> tree.write("/proc/sys/kernel/osrelease", "six\u0000point\u001b[31mone"),
            Map.of("kernel", Verdict.WARN, "fork", Verdict.SKIP),
            "cannot be understood",
            "uname -r"),
        Fault.of(
            "little memory may be locked",
            tree -> tree.limits("65536", "1048576"),
            "memlock",
            Verdict.FAIL,
            "64 KiB",
            "memlock unlimited"),
        Fault.of(
            "some memory may be locked",
            tree -> tree.limits("4294967296", "1048576"),
            "memlock",
            Verdict.WARN,
            "4 GiB",
            "memlock unlimited"),
        Fault.of(
            "no limit of locked memory is told",
            tree ->
                tree.write(
                    "/proc/self/limits", "Max open files            1024     1048576    files\n"),
            "memlock",
            Verdict.WARN,
            "tells no Max locked memory",
            "ulimit -l"),
        Fault.of(
            "few files may be open",
            tree -> tree.limits("unlimited", "1024"),
            "open-files",
            Verdict.WARN,
            "at most 1024",
            "nofile"),
        Fault.of(
            "a container that may have few processes",
            tree ->
                tree.write("/sys/fs/cgroup/job/pids.max", "100\n")
                    .write("/sys/fs/cgroup/job/pids.current", "90\n"),
            "processes",
            Verdict.WARN,
            "10 of 100 are left by the limit of this container or job (/sys/fs/cgroup/job/pids.max)",
            "--pids-limit=-1"),
        Fault.of(
            "a user who has many threads",
            tree ->
                tree.write("/proc/70/status", "Uid:\t1000\t0\nThreads:\t900\n")
                    .write("/proc/71/status", "Uid:\t0\t0\nThreads:\t50\n"),
            "processes",
            Verdict.WARN,
            "100 of 1000 are left by this user's limit on processes (ulimit -u)",
            "ulimit -u unlimited"),
        Fault.of(
            "a container with little memory",
            tree ->
                tree.write("/sys/fs/cgroup/job/step/memory.max", "536870912\n")
                    .write("/sys/fs/cgroup/job/step/memory.current", "268435456\n"),
            "cgroup memory",
            Verdict.WARN,
            "256 MiB of 512 MiB are left",
            "--memory=8g"),
        Fault.of(
            "a container with little of the processors",
            tree -> tree.write("/sys/fs/cgroup/job/cpu.max", "150000 100000\n"),
            "cgroup cpu",
            Verdict.WARN,
            "1.5 processors",
            "--cpus=4"),
        Fault.of(
            "two interfaces in one subnet",
            tree -> tree.write("/proc/self/net/route", TWO_IN_ONE_SUBNET),
            "subnet",
            Verdict.WARN,
            "a0, a1 in 10.0.0.0/24: what goes there leaves by the first",
            "ip route add 10.0.0.0/24 dev a1 src ADDRESS table 101"),
        Fault.of(
            "two interfaces in one subnet, with routes by source",
            tree ->
                tree.write("/proc/self/net/route", TWO_IN_ONE_SUBNET)
                    .write("/proc/self/net/fib_trie", "Main:\n  +-- 0.0.0.0/0\nId 101:\n"),
            "subnet",
            Verdict.PASS,
            "a0, a1 in 10.0.0.0/24; there are tables",
            ""),
        Fault.of(
            "a small /dev/shm",
            tree ->
                tree.write("/proc/self/mounts", "shm /dev/shm tmpfs rw,nosuid,size=65536k 0 0\n"),
            "shm",
            Verdict.WARN,
            "only 64 MiB",
            "remount,size=8g"),
        Fault.of(
            "no /dev/shm",
            tree -> tree.write("/proc/self/mounts", "proc /proc proc rw 0 0\n"),
            "shm",
            Verdict.WARN,
            "nothing is mounted",
            "mount -t tmpfs"),
        Fault.of(
            "endpoints of killed processes",
            tree ->
                tree.write("/dev/shm/4711:0:0", "")
                    .write("/dev/shm/4712:0:3-effffffc", "")
                    .write("/dev/shm/4713:0:0", "")
                    .write("/dev/shm/sem.4714:0:0", "")
                    .write("/proc/4713/stat", ""),
            "shm-left",
            Verdict.WARN,
            "2 files are of processes that are not here (4711:0:0",
            "/proc/${f%%:*}"),
        Fault.of(
            "no huge pages",
            tree -> tree.hugePages(0, 0),
            "hugepages",
            Verdict.WARN,
            "none reserved",
            "vm.nr_hugepages"),
        Fault.of(
            "no huge pages left",
            tree -> tree.hugePages(8, 0),
            "hugepages",
            Verdict.WARN,
            "all 8 of 2 MiB are in use",
            "vm.nr_hugepages"),
        Fault.of(
            "nothing about huge pages",
            tree -> tree.write("/proc/meminfo", "HugePages_Total: many\n"),
            "hugepages",
            Verdict.WARN,
            "tells of no huge pages",
            "grep Huge"));
  }

  private static Map<String, Verdict> verdicts(Diagnosis diagnosis) {
    return diagnosis.findings().stream()
        .collect(
            Collectors.toMap(
                Finding::title,
                Finding::verdict,
                (one, other) -> {
                  throw new AssertionError("two findings of one title: " + one + ", " + other);
                },
                TreeMap::new));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void isNamedWithItsRemedyAndAlone(Fault fault, @TempDir Path folder) {
    MachineTree tree = Machines.healthy(folder);
    Map<String, Verdict> expected = verdicts(tree.examine());
    fault.seed.accept(tree);
    Diagnosis diagnosis = tree.examine();
    expected.putAll(fault.changed);
    assertEquals(expected, verdicts(diagnosis));
    Finding finding =
        diagnosis.findings().stream()
            .filter(each -> fault.changed.containsKey(each.title()))
            .findFirst()
            .orElseThrow();
    assertTrue(finding.summary().contains(fault.named), finding::summary);
    assertTrue(finding.remedy().contains(fault.remedy), finding::remedy);
    assertTrue(!finding.read().isEmpty(), "does not say what it read");
  }
}
