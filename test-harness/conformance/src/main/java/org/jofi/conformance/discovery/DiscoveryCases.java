package org.jofi.conformance.discovery;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Capability;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricLimits;
import org.jofi.fabric.MessageOrder;
import org.jofi.fabric.MrMode;

/** What fi_getinfo(3) answers. */
public final class DiscoveryCases {
  private DiscoveryCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
            Area.DISCOVERY,
            "capabilities",
            "fi_getinfo(3), CAPABILITIES: an answer has every capability that the hints ask for",
            DiscoveryCases::capabilities),
        Case.of(
            Area.DISCOVERY,
            "mr-modes",
            "fi_domain(3), mr_mode: an answer demands only modes that the hints offer",
            DiscoveryCases::mrModes),
        Case.of(
            Area.DISCOVERY,
            "message-order",
            "fi_endpoint(3), msg_order: an answer keeps every order that the hints ask for",
            DiscoveryCases::messageOrder),
        Case.of(
            Area.DISCOVERY,
            "unknown-domain",
            "fi_getinfo(3), domain_attr: a name in the hints limits the answers to what has it",
            DiscoveryCases::unknownDomain),
        Case.of(
            Area.DISCOVERY,
            "limits",
            "fi_domain(3), mr_key_size, cq_data_size; fi_endpoint(3), max_msg_size, inject_size: "
                + "sizes are those of something that works",
            DiscoveryCases::limits),
        Case.of(
            Area.DISCOVERY,
            "repeatable",
            "fi_getinfo(3): the same hints find the same NICs while nothing changed",
            DiscoveryCases::repeatable));
  }

  private static void capabilities(Bench bench) {
    FabricHints hints = bench.subject().hints();
    for (Capability capability :
        List.of(Capability.DIRECTED_RECV, Capability.FENCE, Capability.SOURCE)) {
      Set<Capability> required = EnumSet.of(Capability.MSG, Capability.RMA, capability);
      for (FabricInfo info : bench.subject().discover(hints.withRequired(required))) {
        Expect.that(
            info.capabilities().containsAll(required),
            "%s to have %s".formatted(info, required),
            "it has " + info.capabilities());
      }
    }
  }

  private static void mrModes(Bench bench) {
    FabricHints hints = bench.subject().hints();
    for (Set<MrMode> offered :
        List.of(
            hints.offeredMrModes(),
            Set.<MrMode>of(),
            Set.of(MrMode.VIRT_ADDR, MrMode.ALLOCATED, MrMode.PROV_KEY))) {
      for (FabricInfo info : bench.subject().discover(hints.withOfferedMrModes(offered))) {
        Expect.that(
            offered.containsAll(info.mrModes()),
            "%s to demand no more than %s".formatted(info, offered),
            "it demands " + info.mrModes());
      }
    }
  }

  private static void messageOrder(Bench bench) {
    for (MessageOrder order : MessageOrder.values()) {
      FabricHints hints = bench.subject().hints().withMessageOrder(Set.of(order));
      for (FabricInfo info : bench.subject().discover(hints)) {
        Expect.that(
            info.messageOrder().contains(order),
            "%s to keep FI_ORDER_%s".formatted(info, order),
            "it keeps " + info.messageOrder());
      }
    }
  }

  private static void unknownDomain(Bench bench) {
    List<FabricInfo> found =
        bench.subject().discover(bench.subject().hints().withDomain("no-such-domain-0"));
    Expect.that(found.isEmpty(), "no answer for a domain that does not exist", "found " + found);
  }

  private static void limits(Bench bench) {
    for (FabricInfo info : bench.subject().discover(bench.subject().hints())) {
      FabricLimits limits = info.limits();
      boolean sane =
          limits.mrKeyBytes() >= 1
              && limits.cqDataBytes() >= 0
              && limits.cqDataBytes() <= Long.BYTES
              && limits.injectBytes() >= 0
              && limits.injectBytes() <= limits.maxMessageBytes()
              && limits.maxMessageBytes() >= 1
              && limits.transmitDepth() >= 1
              && limits.receiveDepth() >= 1;
      Expect.that(
          sane,
          "keys of a byte at least, CQ data of 8 bytes at most, inject_size within max_msg_size,"
              + " and queues that take an operation",
          info + " has " + limits);
    }
  }

  private static void repeatable(Bench bench) {
    List<String> first = names(bench);
    Expect.that(
        !first.isEmpty() && first.equals(names(bench)), first.toString(), names(bench).toString());
  }

  private static List<String> names(Bench bench) {
    return bench.subject().discover(bench.subject().hints()).stream()
        .map(FabricInfo::toString)
        .toList();
  }
}
