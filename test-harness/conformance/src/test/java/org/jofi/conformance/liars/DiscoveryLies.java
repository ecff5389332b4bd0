package org.jofi.conformance.liars;

import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jofi.fabric.Capability;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricLimits;
import org.jofi.fabric.MessageOrder;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.Progress;

/** Lies of fi_getinfo(3). */
final class DiscoveryLies {
  private DiscoveryLies() {}

  static List<Liar> all() {
    return List.of(
        new Liar(
            "answers without a capability that was asked for",
            "efa",
            "discovery/capabilities",
            () -> asking(DiscoveryLies::withoutSource)),
        new Liar(
            "demands a mode that was not offered",
            "tcp",
            "discovery/mr-modes",
            () ->
                answering(
                    info -> copy(info).mrModes(with(info.mrModes(), MrMode.MMU_NOTIFY)).build())),
        new Liar(
            "answers without an order that was asked for",
            "efa",
            "discovery/message-order",
            () ->
                asking(
                    hints ->
                        Set.of(MessageOrder.SAS).containsAll(hints.messageOrder())
                            ? hints
                            : hints.withMessageOrder(Set.of()))),
        new Liar(
            "ignores the domain's name",
            "cxi",
            "discovery/unknown-domain",
            () ->
                asking(
                    hints ->
                        new FabricHints(
                            hints.provider(),
                            hints.fabric(),
                            Optional.empty(),
                            hints.required(),
                            hints.offeredMrModes(),
                            hints.hmem(),
                            hints.messageOrder(),
                            hints.threading()))),
        new Liar(
            "tells 16 bytes of immediate data",
            "tcp",
            "discovery/limits",
            () -> answering(info -> copy(info).limits(wide(info.limits())).build())),
        new Liar(
            "finds the NICs in another order each time",
            "efa",
            "discovery/repeatable",
            Turning::new),
        new Liar(
            "claims FI_PROGRESS_AUTO, and the target has to poll",
            "tcp",
            "progress/auto-idle-target",
            () -> answering(info -> copy(info).progress(Progress.AUTO, Progress.AUTO).build())));
  }

  private static FabricHints withoutSource(FabricHints hints) {
    EnumSet<Capability> required = EnumSet.copyOf(hints.required());
    required.remove(Capability.SOURCE);
    return hints.withRequired(required);
  }

  private static Set<MrMode> with(Set<MrMode> modes, MrMode more) {
    EnumSet<MrMode> all = EnumSet.of(more);
    all.addAll(modes);
    return all;
  }

  private static FabricLimits wide(FabricLimits limits) {
    return new FabricLimits(
        limits.mrKeyBytes(),
        16,
        limits.injectBytes(),
        limits.maxMessageBytes(),
        limits.transmitDepth(),
        limits.receiveDepth(),
        limits.mrIovLimit(),
        limits.mrCount());
  }

  /** An info like that one. */
  static FabricInfo.Builder copy(FabricInfo info) {
    return FabricInfo.builder(info.provider(), info.fabricName(), info.domainName())
        .providerVersion(info.providerVersion())
        .address(info.address())
        .capabilities(info.capabilities())
        .mrModes(info.mrModes())
        .messageOrder(info.messageOrder())
        .limits(info.limits())
        .progress(info.controlProgress(), info.dataProgress())
        .threading(info.threading())
        .nic(info.nic())
        .traits(info.traits())
        .attachment(Objects.requireNonNull(info.attachment()));
  }

  /** Takes other hints than were given. */
  private static Lie asking(UnaryOperator<FabricHints> change) {
    return new Lie() {
      @Override
      List<FabricInfo> discover(LyingProvider provider, FabricHints hints) {
        return provider.real().discover(change.apply(hints));
      }
    };
  }

  private static Lie answering(UnaryOperator<FabricInfo> change) {
    return new Lie() {
      @Override
      List<FabricInfo> discover(LyingProvider provider, FabricHints hints) {
        return provider.real().discover(hints).stream().map(change).toList();
      }
    };
  }

  private static final class Turning extends Lie {
    private boolean turned;

    @Override
    List<FabricInfo> discover(LyingProvider provider, FabricHints hints) {
      turned = !turned;
      List<FabricInfo> found = provider.real().discover(hints);
      return turned ? found.reversed() : found;
    }
  }
}
