package org.jofi.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jofi.doctor.machine.Machine;
import org.jofi.doctor.machine.Nic;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Machines that people described, told by their files alone. */
class RecordedMachinesTest {
  @TempDir private Path folder;

  private static Finding finding(Diagnosis diagnosis, String title) {
    return diagnosis.findings().stream()
        .filter(finding -> finding.title().equals(title))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + title + " in " + diagnosis.findings()));
  }

  private static Map<String, Verdict> verdicts(Diagnosis diagnosis) {
    return diagnosis.findings().stream()
        .collect(Collectors.toMap(Finding::title, Finding::verdict));
  }

  /** What nvidia-smi topo -m printed there; the links between GPUs are NVLinks. */
  private static final String EPYC_MATRIX =
      """
      GPU0 X NV4 NV4 NV4 SYS SYS 0-127 N/A
      GPU1 NV4 X NV4 NV4 SYS SYS 0-127 N/A
      GPU2 NV4 NV4 X NV4 PHB PHB 0-127 N/A
      GPU3 NV4 NV4 NV4 X SYS SYS 0-127 N/A
      NIC0 SYS SYS PHB SYS X PIX
      NIC1 SYS SYS PHB SYS PIX X
      """;

  @Test
  void theMatrixOfAnEpycIsTheOneOfNvidiaSmi() {
    TopologyMatrix matrix = Machines.epyc(folder).examine().matrix();
    assertEquals(
        List.of(
            "", "GPU0", "GPU1", "GPU2", "GPU3", "NIC0", "NIC1", "CPU Affinity", "NUMA Affinity"),
        matrix.header());
    List<String> drawn = new ArrayList<>();
    for (List<String> row : matrix.rows()) {
      drawn.add(row.stream().filter(cell -> !cell.isEmpty()).collect(Collectors.joining(" ")));
    }
    List<String> expected = EPYC_MATRIX.lines().map(line -> line.replace("NV4", "SYS")).toList();
    assertEquals(expected, drawn);
    assertEquals(Map.of("NIC0", "mlx5_0", "NIC1", "mlx5_1"), matrix.nicNames());
  }

  @Test
  void onTheEpycOneGpuIsForTheNetwork() {
    Diagnosis diagnosis = Machines.epyc(folder).examine();
    Finding near = finding(diagnosis, "path GPU2");
    assertEquals(Verdict.PASS, near.verdict());
    assertTrue(near.summary().startsWith("use mlx5_0, mlx5_1: PHB, usually good"), near::summary);
    for (String gpu : List.of("GPU0", "GPU1", "GPU3")) {
      Finding far = finding(diagnosis, "path " + gpu);
      assertEquals(Verdict.WARN, far.verdict());
      assertTrue(far.summary().contains("no NIC is nearer than SYS"), far::summary);
      assertTrue(far.summary().contains("nearer to a NIC: GPU2"), far::summary);
    }
    assertFalse(diagnosis.failed(), diagnosis.findings()::toString);
  }

  @Test
  void dualV100() {
    Diagnosis diagnosis = Machines.dualV100(folder).examine();
    assertEquals(
        List.of("GPU0", "X", "SYS", "PIX", "0-3,8-11", "0"), diagnosis.matrix().rows().get(0));
    assertEquals(
        List.of("GPU1", "SYS", "X", "SYS", "4-7,12-15", "1"), diagnosis.matrix().rows().get(1));
    assertEquals(List.of("NIC0", "PIX", "SYS", "X", "", ""), diagnosis.matrix().rows().get(2));
    assertTrue(finding(diagnosis, "path GPU0").summary().contains("mlx5_0: PIX, good"));
    assertEquals(Verdict.WARN, finding(diagnosis, "path GPU1").verdict());
  }

  @Test
  void dualP100() {
    Diagnosis diagnosis = Machines.dualP100(folder).examine();
    assertEquals(
        List.of("GPU0", "X", "SYS", "0-9,20-29", "0"), diagnosis.matrix().rows().getFirst());
    Map<String, Verdict> verdicts = verdicts(diagnosis);
    assertEquals(Verdict.WARN, verdicts.get("path GPU0"));
    assertEquals(Verdict.FAIL, verdicts.get("peermem"));
    assertEquals(Verdict.FAIL, verdicts.get("memlock"));
    assertEquals(Verdict.PASS, verdicts.get("bar1 GPU0"));
  }

  @Test
  void onTheR750ThePeerMemoryModuleIsMissingAfterABoot() {
    Diagnosis diagnosis = Machines.r750(folder).examine();
    Finding peermem = finding(diagnosis, "peermem");
    assertEquals(Verdict.FAIL, peermem.verdict());
    assertTrue(peermem.remedy().startsWith("sudo modprobe nvidia_peermem"), peermem::remedy);
    assertEquals(
        Set.of("peermem"),
        diagnosis.findings().stream()
            .filter(finding -> finding.verdict() == Verdict.FAIL)
            .map(Finding::title)
            .collect(Collectors.toSet()));
    assertEquals(
        List.of("GPU0", "X", "NODE", "NODE", "NODE", "NODE", "1,3,5,7,9,11,13,15", "1"),
        diagnosis.matrix().rows().getFirst());
    assertEquals(
        List.of("NIC0", "NODE", "X", "PIX", "NODE", "NODE", "", ""),
        diagnosis.matrix().rows().get(1));
    assertEquals(Verdict.WARN, finding(diagnosis, "path GPU0").verdict());
  }

  /** Its owner loaded the module and still no data arrived: files do not tell why. */
  @Test
  void nothingFailsOnTheR750OnceThePeerMemoryModuleIsLoaded() {
    Diagnosis diagnosis =
        Machines.r750(folder)
            .write("/proc/modules", "nvidia_peermem 16384 0 - Live 0x0\n")
            .examine();
    assertEquals(Verdict.PASS, finding(diagnosis, "peermem").verdict());
    assertEquals(Verdict.WARN, finding(diagnosis, "path GPU0").verdict());
    assertEquals(
        List.of(),
        diagnosis.findings().stream()
            .filter(finding -> finding.verdict() == Verdict.FAIL)
            .map(Finding::title)
            .toList());
  }

  @Test
  void theNicsOfTheR750() {
    Machine machine = Machines.r750(folder).examine().machine();
    Map<String, Nic> nics =
        machine.nics().stream().collect(Collectors.toMap(Nic::name, Function.identity()));
    assertEquals(
        Set.of(
            "mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "eno8303", "eno8403", "eno12399", "eno12409"),
        nics.keySet());
    Nic sends = nics.get("mlx5_1");
    assertEquals("0000:98:00.1", sends.pci().orElseThrow().address());
    assertEquals("mlx5_core", sends.driver());
    assertEquals("22.31.1014", sends.firmware());
    assertEquals("b8:ce:f6:cc:9e:dd", sends.interfaces().getFirst().mac());
    assertEquals("ens6f1", sends.interfaces().getFirst().name());
    assertEquals("100 Gb/sec (4X EDR)", sends.speed());
    assertTrue(sends.up().orElseThrow());
    assertFalse(nics.get("mlx5_0").up().orElseThrow());
    assertEquals(1, sends.pci().orElseThrow().numaNode());
    Nic receives = nics.get("mlx5_3");
    assertEquals("0000:b1:00.0", receives.pci().orElseThrow().address());
    assertEquals("16.27.6106", receives.firmware());
    assertEquals("0c:42:a1:73:8d:e6", receives.interfaces().getFirst().mac());
    assertEquals("ens5f0", receives.interfaces().getFirst().name());
    assertTrue(receives.up().orElseThrow());
    assertFalse(nics.get("mlx5_2").up().orElseThrow());
    assertFalse(nics.get("eno8303").rdma());
    assertEquals("1 Gb/s", nics.get("eno8303").speed());
  }

  @Test
  void bar1BehindAWindowOfTwoRegisters() {
    // As an H100 shows it.
    MachineTree tree = Machines.healthy(folder);
    String address = tree.examine().machine().gpus().getFirst().pci().address().toString();
    Machine machine = tree.wideBar1(address, 128L << 30).examine().machine();
    assertEquals(128L << 30, machine.gpus().getFirst().bar1Bytes());
  }

  @Test
  void theGpuOfTheR750() {
    Machine machine = Machines.r750(folder).examine().machine();
    assertEquals(1, machine.gpus().size());
    assertEquals("0000:ca:00.0", machine.gpus().getFirst().pci().address());
    assertEquals("NVIDIA A100-PCIE-40GB", machine.gpus().getFirst().model());
    assertEquals(64L << 30, machine.gpus().getFirst().bar1Bytes());
    assertEquals("495.29.05", machine.nvidia().orElseThrow().version());
    assertFalse(machine.dmaBufPossible());
  }

  @Test
  void nothingIsWrongWithAHealthyMachine() {
    Diagnosis diagnosis = Machines.healthy(folder).examine();
    for (Finding finding : diagnosis.findings()) {
      boolean processOnly = Set.of("libfabric", "mr-cache", "jvm").contains(finding.check());
      assertEquals(processOnly ? Verdict.SKIP : Verdict.PASS, finding.verdict(), finding::toString);
      if (processOnly) {
        assertTrue(finding.summary().startsWith("not read"), finding::summary);
      }
    }
    assertEquals(
        List.of("GPU0", "X", "SYS", "PIX", "SYS", "0-31", "0"),
        diagnosis.matrix().rows().getFirst());
  }

  /** Each check has something to say where there is neither GPU nor RDMA NIC. */
  @Test
  void aPlainMachineGetsALinePerCheck() {
    Diagnosis diagnosis = Machines.plain(folder).examine();
    Set<String> expected =
        Machines.healthy(folder.resolve("healthy")).examine().findings().stream()
            .map(Finding::check)
            .collect(Collectors.toSet());
    assertEquals(
        expected, diagnosis.findings().stream().map(Finding::check).collect(Collectors.toSet()));
    assertFalse(diagnosis.failed(), diagnosis.findings()::toString);
    assertTrue(finding(diagnosis, "gpu").summary().startsWith("no NVIDIA GPU"));
    assertTrue(finding(diagnosis, "nic").summary().startsWith("no RDMA NIC"));
    assertEquals("not needed: no GPU", finding(diagnosis, "peermem").summary());
    assertTrue(diagnosis.matrix().empty());
  }

  @Test
  void dmaBufMakesPeerMemoryUnnecessary() {
    MachineTree tree = Machines.healthy(folder).nvidia("550.54.15", true);
    tree.write("/proc/modules", "nvidia 65536 0 - Live 0x0\n");
    Finding peermem = finding(tree.examine(), "peermem");
    assertEquals(Verdict.PASS, peermem.verdict());
    assertTrue(peermem.summary().contains("none is needed"), peermem::summary);
    tree.nvidia("510.47.03", true);
    assertEquals(Verdict.FAIL, finding(tree.examine(), "peermem").verdict());
  }

  @Test
  void theOlderNameOfPeerMemoryIsKnown() {
    MachineTree tree =
        Machines.healthy(folder).write("/proc/modules", "nv_peer_mem 16384 0 - Live 0x0\n");
    Finding peermem = finding(tree.examine(), "peermem");
    assertEquals(Verdict.PASS, peermem.verdict());
    assertTrue(peermem.summary().contains("nv_peer_mem"), peermem::summary);
  }

  /** Its interface hangs below a device of virtio's own. */
  @Test
  void aVirtioNicHasItsInterface() {
    MachineTree tree = Machines.plain(folder);
    tree.remove("/sys/class/net/eth0");
    String net = "/sys/devices/pci0000:00/0000:00:03.0/virtio1/net/eth1";
    tree.write(net + "/address", "06:00:00:00:00:02\n").link("/sys/class/net/eth1", net);
    Nic nic = tree.examine().machine().nics().getFirst();
    assertEquals("eth1", nic.name());
    assertEquals("06:00:00:00:00:02", nic.interfaces().getFirst().mac());
  }

  /** Copies have them that were made with archivers that trust the sizes that sysfs tells. */
  @Test
  void zerosAfterTheContentDoNotMatter() {
    MachineTree tree = Machines.healthy(folder);
    tree.write(
        "/sys/devices/pci0000:16/0000:16:02.0/0000:17:00.0/0000:18:00.0/0000:19:00.0/vendor",
        "0x10de\n" + "\0".repeat(4089));
    assertEquals(2, tree.examine().machine().gpus().size());
  }

  @Test
  void aCardForRdmaWithoutItsModuleIsNoRdmaNic() {
    MachineTree tree = Machines.dualP100(folder).remove("/sys/class/infiniband");
    Finding nic = finding(tree.examine(), "nic enp130s0");
    assertEquals(Verdict.WARN, nic.verdict());
    assertEquals("sudo modprobe mlx5_ib", nic.remedy());
    assertEquals("no RDMA NIC for the GPUs", finding(tree.examine(), "path").summary());
  }
}
