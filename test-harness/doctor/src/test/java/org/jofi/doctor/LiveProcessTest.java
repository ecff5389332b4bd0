package org.jofi.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jofi.doctor.machine.MachineFiles;
import org.jofi.fabric.Capability;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricLimits;
import org.jofi.fabric.MrMode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What belongs to the process: libfabric, its environment, and the JVM. */
class LiveProcessTest {
  @TempDir private Path folder;
  private MachineTree tree;

  @BeforeEach
  void build() {
    tree = Machines.healthy(folder);
  }

  private static FabricInfo offer(String provider, Set<MrMode> modes, Capability... more) {
    Set<Capability> capabilities = EnumSet.of(Capability.MSG, Capability.RMA);
    capabilities.addAll(List.of(more));
    return FabricInfo.builder(provider, "net", "nic")
        .capabilities(capabilities)
        .mrModes(modes)
        .limits(new FabricLimits(8, 4, 64, 1L << 30, 256, 256, 1, 0))
        .build();
  }

  private static FabricSurvey library(String version, FabricInfo... offers) {
    return new FabricSurvey(version, "", List.of(offers));
  }

  private static LiveProcess process(
      Map<String, String> environment, List<String> options, FabricSurvey fabrics) {
    return new LiveProcess(environment, options, List.of("G1"), Optional.empty(), fabrics);
  }

  private Diagnosis examine(LiveProcess process) {
    try {
      return Doctor.examine(new MachineFiles(tree.root()), Optional.of(process));
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }

  private Finding finding(LiveProcess process, String title) {
    return examine(process).findings().stream()
        .filter(finding -> finding.title().equals(title))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + title));
  }

  private Finding finding(Map<String, String> environment, String title, String... providers) {
    FabricInfo[] offers =
        List.of(providers).stream()
            .map(provider -> offer(provider, Set.of()))
            .toArray(FabricInfo[]::new);
    return finding(process(environment, List.of(), library("libfabric 2.1", offers)), title);
  }

  @Test
  void aMissingLibraryIsAFailure() {
    Finding finding =
        finding(
            process(
                Map.of(),
                List.of(),
                new FabricSurvey("", "no libfabric.so.1\n  Install", List.of())),
            "libfabric");
    assertEquals(Verdict.FAIL, finding.verdict());
    assertEquals("no libfabric.so.1 Install", finding.summary());
    assertTrue(finding.remedy().contains("apt-get install -y libfabric1"), finding::remedy);
  }

  @Test
  void eachProviderTellsItsScope() {
    LiveProcess process =
        process(
            Map.of(),
            List.of(),
            library(
                "libfabric 2.1",
                offer(
                    "cxi",
                    EnumSet.of(MrMode.ENDPOINT, MrMode.PROV_KEY, MrMode.HMEM),
                    Capability.HMEM),
                offer("shm", EnumSet.of(MrMode.VIRT_ADDR)),
                offer("psm", EnumSet.of(MrMode.RAW))));
    assertEquals(
        "endpoint scope, mr_mode PROV_KEY ENDPOINT HMEM",
        finding(process, "libfabric cxi").summary());
    assertEquals("domain scope, mr_mode VIRT_ADDR", finding(process, "libfabric shm").summary());
    assertEquals(Verdict.SKIP, finding(process, "libfabric psm").verdict());
    assertEquals("taken by cxi", finding(process, "libfabric GPU memory").summary());
    assertEquals(Verdict.PASS, finding(process, "libfabric").verdict());
  }

  @Test
  void nothingToRunOnIsAFailure() {
    LiveProcess process =
        process(
            Map.of("FI_PROVIDER", "psm"),
            List.of(),
            library("libfabric 2.1", offer("psm", EnumSet.of(MrMode.RAW))));
    assertEquals(Verdict.FAIL, finding(process, "libfabric").verdict());
    assertEquals("unset FI_PROVIDER", finding(process, "libfabric").remedy());
  }

  @Test
  void nicsThatNoProviderDrivesAreNamed() {
    Finding finding = finding(Map.of(), "libfabric RDMA", "tcp", "shm");
    assertEquals(Verdict.WARN, finding.verdict());
    assertTrue(finding.summary().contains("mlx5_0, mlx5_1"), finding::summary);
    Finding staged = finding(Map.of(), "libfabric GPU memory", "tcp", "shm");
    assertEquals(Verdict.WARN, staged.verdict());
    assertTrue(staged.summary().contains("FI_HMEM"), staged::summary);
  }

  @Test
  void aLibraryOlderThanDmaBufIsNamed() {
    tree.nvidia("550.54.15", true);
    FabricInfo verbs = offer("verbs;ofi_rxm", Set.of(), Capability.HMEM);
    Finding old =
        finding(
            process(Map.of(), List.of(), library("libfabric 1.17 from x", verbs)),
            "libfabric GPU memory");
    assertEquals(Verdict.WARN, old.verdict());
    assertTrue(old.summary().contains("1.20"), old::summary);
    assertEquals(
        Verdict.PASS,
        finding(
                process(Map.of(), List.of(), library("libfabric 1.20 from x", verbs)),
                "libfabric GPU memory")
            .verdict());
  }

  @Test
  void theMonitorOfTheRegistrationCache() {
    String variable = "FI_MR_CACHE_MONITOR";
    assertEquals(Verdict.PASS, finding(Map.of(), "mr-cache", "tcp", "shm").verdict());
    Finding unset = finding(Map.of(), "mr-cache", "verbs;ofi_rxm");
    assertEquals(Verdict.PASS, unset.verdict());
    assertTrue(unset.summary().contains("disables"), unset::summary);
    for (String needing : List.of("cxi", "opx")) {
      assertEquals(
          "export FI_MR_CACHE_MONITOR=kdreg2", finding(Map.of(), "mr-cache", needing).remedy());
      assertEquals(
          Verdict.WARN, finding(Map.of(variable, "disabled"), "mr-cache", needing).verdict());
    }
    assertEquals(
        "export FI_MR_CACHE_MONITOR=disabled",
        finding(Map.of(variable, "memhooks"), "mr-cache", "verbs").remedy());
    assertEquals(Verdict.WARN, finding(Map.of(variable, "memhooks"), "mr-cache", "tcp").verdict());
    assertEquals(
        Verdict.PASS, finding(Map.of(variable, "disabled"), "mr-cache", "verbs").verdict());
    assertEquals(Verdict.PASS, finding(Map.of(variable, "kdreg2"), "mr-cache", "cxi").verdict());
    assertEquals(Verdict.WARN, finding(Map.of(variable, "nosuch"), "mr-cache", "tcp").verdict());
  }

  @Test
  void anOldKernelNeedsAVariableToFork() {
    tree.write("/proc/sys/kernel/osrelease", "5.4.0\n");
    Finding unsafe = finding(Map.of(), "fork", "tcp");
    assertEquals(Verdict.WARN, unsafe.verdict());
    assertEquals("export RDMAV_FORK_SAFE=1", unsafe.remedy());
    assertEquals(Verdict.PASS, finding(Map.of("RDMAV_FORK_SAFE", "1"), "fork", "tcp").verdict());
  }

  @Test
  void optionsOfTheJvm() {
    FabricSurvey fabrics = library("libfabric 2.1", offer("tcp", Set.of()));
    LiveProcess usual = process(Map.of(), List.of(), fabrics);
    for (String subject :
        List.of("native-access", "signals", "children", "large-pages", "collector")) {
      assertEquals(Verdict.PASS, finding(usual, "jvm " + subject).verdict(), subject);
    }
    LiveProcess odd =
        new LiveProcess(
            Map.of(),
            List.of("-Xrs", "-Djdk.lang.Process.launchMechanism=FORK", "-XX:+UseLargePages"),
            List.of("ZGC"),
            Optional.of("org.jofi.libfabric"),
            fabrics);
    assertEquals(Verdict.WARN, finding(odd, "jvm signals").verdict());
    assertEquals(Verdict.WARN, finding(odd, "jvm children").verdict());
    assertEquals(Verdict.PASS, finding(odd, "jvm large-pages").verdict());
    assertTrue(finding(odd, "jvm large-pages").summary().startsWith("asked for"));
    assertTrue(finding(odd, "jvm collector").summary().startsWith("ZGC"));
    assertEquals(
        "java --enable-native-access=org.jofi.libfabric,org.jofi.libfabric.bindings,org.jofi.rdma",
        finding(odd, "jvm native-access").remedy());
  }

  @Test
  void aProviderThatIsNotInstalledIsTold() {
    LiveProcess process = LiveProcess.current("nosuch");
    assertTrue(process.fabrics().trouble().contains("no fabric provider named 'nosuch'"));
    assertFalse(process.collectors().isEmpty());
    assertEquals(Verdict.FAIL, finding(process, "libfabric").verdict());
  }
}
