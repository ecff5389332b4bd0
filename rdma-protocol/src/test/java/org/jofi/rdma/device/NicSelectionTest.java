package org.jofi.rdma.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jofi.fabric.Capability;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.ProviderTraits;
import org.jofi.rdma.topology.SysfsNet;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.NicNames;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which of the ways that a provider lists for each NIC is taken. */
class NicSelectionTest {
  private static final ProviderTraits HARDWARE = ProviderTraits.HARDWARE;

  private static final SysfsNet NO_NET = new SysfsNet(Path.of("/no/sys"));

  @TempDir private Path sys;

  /** Lists what fi_getinfo lists: first the NICs for host memory, then those that reach GPUs. */
  private record AsLibfabricLists(List<FabricInfo> answers) implements FabricProvider {
    @Override
    public String name() {
      return "listed";
    }

    @Override
    public String version() {
      return "listed 1";
    }

    @Override
    public List<FabricInfo> discover(FabricHints hints) {
      return answers;
    }

    @Override
    public Fabric open(FabricInfo info) {
      throw new IllegalStateException("nothing is opened here");
    }
  }

  private static FabricInfo renamed(FabricInfo nic, ProviderTraits traits, boolean hmem) {
    Set<Capability> capabilities = EnumSet.copyOf(nic.capabilities());
    Set<MrMode> modes = EnumSet.copyOf(nic.mrModes());
    capabilities.remove(Capability.HMEM);
    modes.remove(MrMode.HMEM);
    if (hmem) {
      capabilities.add(Capability.HMEM);
      modes.add(MrMode.HMEM);
    }
    return FabricInfo.builder(name(traits), nic.fabricName(), nic.domainName())
        .capabilities(capabilities)
        .mrModes(modes)
        .messageOrder(nic.messageOrder())
        .limits(nic.limits())
        .nic(nic.nic())
        .traits(traits)
        .build();
  }

  private static ProviderTraits software(int preference) {
    return new ProviderTraits(true, preference, false, false, true, true, 0, 0, 0);
  }

  private static String name(ProviderTraits traits) {
    return traits.software() ? "software-" + traits.preference() : "hardware";
  }

  private static NicSelection select(
      ProviderTraits traits, boolean gpus, boolean required, Predicate<FabricInfo> reaches) {
    try (Simulation simulation = Simulation.of(Profile.EFA).nicsPerHost(2).open()) {
      List<FabricInfo> nics = simulation.host(0).provider().discover(FabricHints.any());
      FabricProvider listed =
          new AsLibfabricLists(
              Stream.concat(
                      nics.stream().map(nic -> renamed(nic, traits, false)),
                      nics.stream().filter(reaches).map(nic -> renamed(nic, traits, true)))
                  .toList());
      return NicSelection.of(
          listed, TransportOptions.builder().requireGpuDirect(required).build(), NO_NET, gpus);
    }
  }

  private static List<Boolean> direct(NicSelection selection) {
    return selection.nics().stream().map(nic -> nic.has(Capability.HMEM)).toList();
  }

  @Test
  void withAGpuNicsAreTakenThatReachIt() {
    NicSelection selection = select(HARDWARE, true, false, _ -> true);
    assertEquals(List.of(true, true), direct(selection));
    assertTrue(selection.reason().endsWith("they reach (FI_HMEM)."), selection::reason);
  }

  @Test
  void nicsThatDoNotReachItAreTakenAsTheyAre() {
    NicSelection selection = select(HARDWARE, true, false, nic -> nic.domainName().endsWith("1"));
    assertEquals(List.of(false, true), direct(selection));
    assertTrue(selection.reason().contains("but 1 of 2 NICs do not"), selection::reason);
  }

  @Test
  void withoutAGpuNoFastPathForHostMemoryIsGivenUp() {
    NicSelection selection = select(HARDWARE, false, false, _ -> true);
    assertEquals(List.of(false, false), direct(selection));
    assertFalse(selection.reason().contains("GPU"), selection::reason);
  }

  @Test
  void softwareIsNotAskedToCopyToGpus() {
    assertEquals(List.of(false, false), direct(select(software(0), true, false, _ -> true)));
    assertEquals(List.of(true, true), direct(select(software(0), true, true, _ -> true)));
  }

  @Test
  void hardwareIsTakenFirstAndThenWhatIsPreferred() {
    assertEquals("software-2", chosen(software(3), software(2), software(5)));
    assertEquals("hardware", chosen(software(0), HARDWARE, software(1)));
  }

  private static String chosen(ProviderTraits... listed) {
    try (Simulation simulation = Simulation.of(Profile.EFA).open()) {
      FabricInfo nic = simulation.host(0).provider().discover(FabricHints.any()).getFirst();
      FabricProvider provider =
          new AsLibfabricLists(
              Stream.of(listed).map(traits -> renamed(nic, traits, false)).toList());
      return NicSelection.of(provider, TransportOptions.builder().build(), NO_NET, false)
          .nics()
          .getFirst()
          .provider();
    }
  }

  private static FabricInfo at(String name, String address) {
    try (Simulation simulation = Simulation.of(Profile.TCP).open()) {
      FabricInfo nic = simulation.host(0).provider().discover(FabricHints.any()).getFirst();
      return FabricInfo.builder("tcp", "10.0.0.0/24", name)
          .address(address)
          .capabilities(nic.capabilities())
          .mrModes(nic.mrModes())
          .messageOrder(nic.messageOrder())
          .limits(nic.limits())
          .traits(nic.traits())
          .build();
    }
  }

  private List<String> selected(String wanted, FabricInfo... listed) {
    TransportOptions options = TransportOptions.builder().nics(NicNames.of(wanted)).build();
    return NicSelection.of(new AsLibfabricLists(List.of(listed)), options, new SysfsNet(sys), false)
        .nics()
        .stream()
        .map(nic -> nic.domainName() + " " + nic.address())
        .toList();
  }

  private void kernelHas(String name, String type, String more) throws IOException {
    Path folder = Files.createDirectories(sys.resolve("class/net").resolve(name));
    Files.writeString(folder.resolve("type"), type + "\n");
    Files.createDirectories(folder.resolve(more));
  }

  /** As on a machine with containers and a VPN, in the order of the provider. */
  private FabricInfo[] usersMachine() throws IOException {
    kernelHas("docker0", "1", "bridge");
    kernelHas("tun0", "65534", "tun_flags");
    kernelHas("lo", "772", "statistics");
    kernelHas("eth0", "1", "device");
    kernelHas("eth1", "1", "device");
    return new FabricInfo[] {
      at("lo", "127.0.0.1:0"),
      at("docker0", "172.17.0.1:0"),
      at("tun0", "10.8.0.6:0"),
      at("eth1", "[fe80:0:0:0:1:2:3:4]:0"),
      at("eth0", "[fe80:0:0:0:1:2:3:5]:0"),
      at("eth0", "10.0.0.7:0"),
      at("eth0", "[fd00:0:0:0:1:2:3:5]:0"),
    };
  }

  @Test
  void nicsThatReachMostComeFirst() throws Exception {
    assertEquals(
        List.of(
            "eth0 10.0.0.7:0",
            "docker0 172.17.0.1:0",
            "tun0 10.8.0.6:0",
            "eth1 [fe80:0:0:0:1:2:3:4]:0",
            "lo 127.0.0.1:0"),
        selected("", usersMachine()));
  }

  @Test
  void nicsAreChosenByTheirNames() throws Exception {
    assertEquals(
        List.of("eth0 10.0.0.7:0", "eth1 [fe80:0:0:0:1:2:3:4]:0"), selected("eth", usersMachine()));
    assertEquals(
        List.of("eth0 10.0.0.7:0", "lo 127.0.0.1:0"), selected("^docker,tun,eth1", usersMachine()));
    String words =
        assertThrows(TransportException.class, () -> selected("=eth", usersMachine())).getMessage();
    assertTrue(words.contains("'=eth'; there are [lo, docker0, tun0, eth1, eth0]"), words);
  }
}
