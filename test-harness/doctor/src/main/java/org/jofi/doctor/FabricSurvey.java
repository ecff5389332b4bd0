package org.jofi.doctor;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jofi.fabric.Capability;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.fabric.Threading;
import org.jofi.rdma.spi.ProtocolRequirements;

/**
 * What libfabric offers.
 *
 * @param version the library, with its version; empty if it could not be asked
 * @param trouble why it could not be asked; empty if it could
 * @param offers the ways to use a NIC, those that jofi runs on first
 */
public record FabricSurvey(String version, String trouble, List<FabricInfo> offers) {

  public FabricSurvey {
    offers = List.copyOf(offers);
  }

  /** Asks the fabric provider with this name. */
  static FabricSurvey of(String name) {
    try {
      FabricProvider provider = FabricProvider.named(name);
      FabricHints hints = FabricHints.any();
      List<FabricInfo> offers = new ArrayList<>(provider.discover(hints));
      offers.addAll(
          provider.discover(hints.withRequired(Set.of()).withThreading(Threading.UNSPECIFIED)));
      offers.sort(Comparator.comparing(info -> !runs(info)));
      return new FabricSurvey(provider.version(), "", offers);
    } catch (IllegalArgumentException | FabricUnavailableException | FabricException failure) {
      return new FabricSurvey("", String.valueOf(failure.getMessage()), List.of());
    }
  }

  private static boolean runs(FabricInfo info) {
    return ProtocolRequirements.lacks(info).isEmpty();
  }

  /** Whether jofi can run on any of the offers. */
  boolean runsAnywhere() {
    return offers.stream().anyMatch(FabricSurvey::runs);
  }

  /** The best way to use each provider, by the provider's name. */
  Map<String, FabricInfo> providers() {
    return offers.stream()
        .collect(
            Collectors.toMap(
                FabricInfo::provider, info -> info, (first, _) -> first, TreeMap::new));
  }

  /** Whether a provider has this name, alone or as the core of a layered one. */
  boolean offers(String core) {
    return offers.stream().anyMatch(info -> List.of(info.provider().split(";", -1)).contains(core));
  }

  /** The providers whose endpoints can access device memory. */
  Set<String> reachingDevices() {
    return offers.stream()
        .filter(info -> info.has(Capability.HMEM))
        .map(FabricInfo::provider)
        .collect(Collectors.toSet());
  }

  /** How a provider wants memory to be registered, as text: {@code scope endpoint, mr_mode ...}. */
  static String registration(FabricInfo info) {
    String modes =
        info.mrModes().isEmpty()
            ? "none"
            : EnumSet.copyOf(info.mrModes()).stream()
                .map(Enum::name)
                .collect(Collectors.joining(" "));
    return "%s scope, mr_mode %s"
        .formatted(info.registrationScope().name().toLowerCase(Locale.ROOT), modes);
  }
}
