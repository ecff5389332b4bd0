package org.jofi.simulated.spi;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jofi.fabric.Capability;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.NicAttributes;
import org.jofi.fabric.PciAddress;
import org.jofi.fabric.ProviderTraits;
import org.jofi.simulated.network.Host;
import org.jofi.simulated.network.Nic;
import org.jofi.simulated.profile.Behaviour;
import org.jofi.simulated.profile.Negotiation;
import org.jofi.simulated.profile.Profile;

/** Answers fi_getinfo(3) for the NICs of a host. */
public final class Discovery {
  private static final long MTU_BYTES = 9000;

  private static final Set<Capability> MESSAGE_WAYS = EnumSet.of(Capability.SEND, Capability.RECV);

  private static final Set<Capability> RMA_WAYS =
      EnumSet.of(
          Capability.READ, Capability.WRITE, Capability.REMOTE_READ, Capability.REMOTE_WRITE);

  /** The primary capabilities, except {@link Capability#HMEM}. */
  private static final Set<Capability> PRIMARY = primary();

  private Discovery() {}

  private static Set<Capability> primary() {
    EnumSet<Capability> all = EnumSet.of(Capability.MSG, Capability.RMA, Capability.DIRECTED_RECV);
    all.addAll(MESSAGE_WAYS);
    all.addAll(RMA_WAYS);
    return all;
  }

  /** The NICs that satisfy the hints, in the order of {@link Profile#ALL}. */
  public static List<FabricInfo> discover(Host host, FabricHints hints) {
    List<FabricInfo> infos = new ArrayList<>();
    for (Nic nic : host.nics()) {
      Profile profile = nic.profile();
      boolean wanted =
          hints.provider().map(profile::isNamed).orElse(true)
              && hints.domain().map(nic.name()::equals).orElse(true)
              && hints.fabric().map(fabricName(nic)::equals).orElse(true);
      if (wanted) {
        negotiate(nic, hints).ifPresent(infos::add);
      }
    }
    return List.copyOf(infos);
  }

  private static Optional<FabricInfo> negotiate(Nic nic, FabricHints hints) {
    Negotiation offer = nic.profile().negotiation();
    Set<MrMode> offered = hints.offeredMrModes();
    boolean hmem =
        hints.hmem()
            && !offer.deviceMemory().isEmpty()
            && (!offer.deviceMemoryMrMode() || offered.contains(MrMode.HMEM));
    EnumSet<Capability> capabilities = EnumSet.copyOf(offer.capabilities());
    if (hmem) {
      capabilities.add(Capability.HMEM);
    }
    if (!offered.containsAll(offer.requiredMrModes())
        || !capabilities.containsAll(hints.required())
        || !offer.orders().containsAll(hints.messageOrder())) {
      return Optional.empty();
    }
    EnumSet<MrMode> modes = EnumSet.noneOf(MrMode.class);
    modes.addAll(offer.requiredMrModes());
    for (MrMode mode : offer.optionalMrModes()) {
      if (offered.contains(mode)) {
        modes.add(mode);
      }
    }
    if (hmem && offer.deviceMemoryMrMode()) {
      modes.add(MrMode.HMEM);
    }
    return Optional.of(
        FabricInfo.builder(nic.profile().providerName(), fabricName(nic), nic.name())
            .providerVersion("1.0")
            .address(nic.toString())
            .capabilities(granted(capabilities, hints))
            .mrModes(modes)
            .messageOrder(hints.messageOrder())
            .limits(offer.limits())
            .progress(offer.controlProgress(), offer.dataProgress())
            .threading(offer.threading())
            .nic(attributes(nic))
            .writesData(nic.profile().behaviour().writeData())
            .traits(traits(nic.profile().behaviour()))
            .attachment(nic)
            .build());
  }

  /** Every profile is used as hardware is, but for what a completion means. */
  private static ProviderTraits traits(Behaviour behaviour) {
    ProviderTraits hardware = ProviderTraits.HARDWARE;
    return new ProviderTraits(
        hardware.software(),
        hardware.preference(),
        hardware.copiesByProcessor(),
        hardware.smallWritesNeedDelivery(),
        !behaviour.completesOnTransmit(),
        hardware.writesDataToItself(),
        hardware.eagerBytes(),
        hardware.latencyNanos(),
        hardware.speedBitsPerSecond());
  }

  /**
   * The capabilities that an info reports: fi_getinfo(3), "capabilities". Primary ones are reported
   * only if the hints ask for them, or if the hints ask for nothing. A class such as MSG or RMA
   * includes all its modifiers (send and receive, or read and write) unless some are named. {@link
   * Capability#HMEM} has a hint of its own.
   */
  private static Set<Capability> granted(Set<Capability> offered, FabricHints hints) {
    Set<Capability> required = hints.required();
    EnumSet<Capability> granted = EnumSet.copyOf(offered);
    if (!required.isEmpty()) {
      granted.removeAll(PRIMARY);
      granted.addAll(required);
      addWays(granted, required, Capability.MSG, MESSAGE_WAYS);
      addWays(granted, required, Capability.RMA, RMA_WAYS);
    }
    return granted;
  }

  private static void addWays(
      Set<Capability> granted, Set<Capability> required, Capability family, Set<Capability> ways) {
    if (required.contains(family) && Collections.disjoint(required, ways)) {
      granted.addAll(ways);
    }
  }

  private static String fabricName(Nic nic) {
    return nic.profile().fabric().formatted(nic.index());
  }

  /** Software providers report nothing about a NIC, as measured for tcp. */
  private static NicAttributes attributes(Nic nic) {
    if (nic.profile().behaviour().targetMustPoll()) {
      return NicAttributes.UNKNOWN;
    }
    return new NicAttributes(
        Optional.of(nic.name()),
        Optional.of("simulated"),
        Optional.empty(),
        Optional.of(new PciAddress(0, 0x10 + 0x10 * nic.index(), 0, 0)),
        nic.profile().link().bytesPerSecond() * 8,
        MTU_BYTES,
        Optional.of(!nic.isDead()));
  }
}
