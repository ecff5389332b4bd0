package org.jofi.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jofi.fabric.Addressing;
import org.jofi.fabric.Capability;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.MessageOrder;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.RegistrationScope;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.Test;

/** What is found, by profile and hints. */
class DiscoveryTest {
  private final FabricProvider provider = FabricProvider.named("simulated");

  private List<FabricInfo> find(FabricHints hints) {
    return provider.discover(hints);
  }

  private FabricInfo first(String name) {
    return find(FabricHints.any().withProvider(name)).getFirst();
  }

  @Test
  void serviceLoaderFindsIt() {
    assertTrue(FabricProvider.installed().stream().anyMatch(SimulatedProvider.class::isInstance));
    assertTrue(provider.version().contains("real time"), provider.version());
    assertEquals(4 * Profile.ALL.size(), find(FabricHints.any()).size());
  }

  @Test
  void hintsNameAProfileInEitherWay() {
    for (Profile profile : Profile.ALL) {
      List<FabricInfo> byName = find(FabricHints.any().withProvider(profile.name()));
      assertEquals(4, byName.size());
      assertEquals("simulated-" + profile.name(), byName.getFirst().provider());
      assertEquals(
          byName.stream().map(FabricInfo::domainName).toList(),
          find(FabricHints.any().withProvider("simulated-" + profile.name())).stream()
              .map(FabricInfo::domainName)
              .toList());
    }
    assertEquals(List.of(), find(FabricHints.any().withProvider("verbs")));
  }

  @Test
  void profilesNegotiateWhatTheirProvidersDo() {
    FabricInfo efa = first("efa");
    assertEquals(
        Set.of(MrMode.VIRT_ADDR, MrMode.ALLOCATED, MrMode.PROV_KEY, MrMode.LOCAL, MrMode.HMEM),
        efa.mrModes());
    assertEquals(RegistrationScope.DOMAIN, efa.registrationScope());
    assertEquals(Addressing.VIRTUAL, efa.addressing());
    assertEquals(4, efa.limits().cqDataBytes());
    FabricInfo cxi = first("cxi");
    assertEquals(Set.of(MrMode.PROV_KEY, MrMode.ALLOCATED, MrMode.ENDPOINT), cxi.mrModes());
    assertEquals(RegistrationScope.ENDPOINT, cxi.registrationScope());
    assertEquals(Addressing.OFFSET, cxi.addressing());
    assertTrue(cxi.has(Capability.FENCE));
    FabricInfo client = first("cxi-client-key");
    assertEquals(KeyOwner.APPLICATION, client.keyOwner());
    assertEquals(4, client.limits().mrKeyBytes());
    FabricInfo tcp = first("tcp");
    assertEquals(Set.of(), tcp.mrModes());
    assertEquals(KeyOwner.APPLICATION, tcp.keyOwner());
    assertFalse(tcp.has(Capability.HMEM));
  }

  @Test
  void registrationModesThatAreNotOfferedLeaveProfilesOut() {
    EnumSet<MrMode> noEndpoint = EnumSet.of(MrMode.VIRT_ADDR, MrMode.ALLOCATED, MrMode.PROV_KEY);
    assertEquals(
        List.of("simulated-efa", "simulated-tcp"),
        find(FabricHints.any().withOfferedMrModes(noEndpoint)).stream()
            .map(FabricInfo::provider)
            .distinct()
            .toList());
    assertEquals(
        List.of("simulated-tcp"),
        find(FabricHints.any().withOfferedMrModes(Set.of())).stream()
            .map(FabricInfo::provider)
            .distinct()
            .toList());
    // Without FI_MR_HMEM, efa still comes, for host memory only.
    FabricInfo efa = find(FabricHints.any().withOfferedMrModes(noEndpoint)).getFirst();
    assertFalse(efa.has(Capability.HMEM));
    assertFalse(efa.mrModes().contains(MrMode.LOCAL));
  }

  @Test
  void requirementsAndOrdersAreKept() {
    assertEquals(
        List.of(),
        find(FabricHints.any().withProvider("tcp").withRequired(Set.of(Capability.HMEM))));
    assertEquals(List.of(), find(FabricHints.any().withRequired(Set.of(Capability.ATOMIC))));
    assertEquals(
        List.of(),
        find(FabricHints.any().withProvider("efa").withMessageOrder(Set.of(MessageOrder.WAW))));
    assertEquals(
        Set.of(MessageOrder.SAS),
        find(FabricHints.any().withProvider("efa").withMessageOrder(Set.of(MessageOrder.SAS)))
            .getFirst()
            .messageOrder());
    assertEquals(1, find(FabricHints.any().withDomain("efa2")).size());
    assertEquals(4, find(FabricHints.any().withFabric("efa")).size());
  }

  @Test
  void primaryCapabilitiesAreGivenToThoseWhoAsk() {
    EnumSet<Capability> directed =
        EnumSet.of(Capability.MSG, Capability.RMA, Capability.DIRECTED_RECV);
    for (String name : List.of("efa", "cxi", "cxi-client-key")) {
      assertFalse(first(name).has(Capability.DIRECTED_RECV), name);
      FabricHints hints = FabricHints.any().withProvider(name);
      assertTrue(find(hints.withRequired(directed)).getFirst().has(Capability.DIRECTED_RECV), name);
      assertTrue(
          find(hints.withRequired(Set.of())).getFirst().capabilities().containsAll(directed), name);
      FabricInfo messages = find(hints.withRequired(Set.of(Capability.MSG))).getFirst();
      assertFalse(messages.has(Capability.RMA), name);
      assertFalse(messages.has(Capability.REMOTE_WRITE), name);
    }
    // The real one lists it, and takes from anybody.
    assertEquals(List.of(), find(FabricHints.any().withProvider("tcp").withRequired(directed)));
    assertFalse(
        find(FabricHints.any().withProvider("tcp").withRequired(Set.of()))
            .getFirst()
            .has(Capability.DIRECTED_RECV));
  }

  @Test
  void anotherProvidersInfoIsRefused() {
    FabricInfo foreign = new SimulatedProvider().discover(FabricHints.any()).getFirst();
    assertThrows(IllegalArgumentException.class, () -> provider.open(foreign));
    try (Fabric fabric = provider.open(first("efa"))) {
      assertEquals("efa", fabric.info().fabricName());
    }
  }
}
