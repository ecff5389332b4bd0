package org.jofi.cli;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jofi.fabric.Capability;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.NicAttributes;
import org.jofi.fabric.PciAddress;
import org.jofi.fabric.Threading;
import org.jofi.rdma.spi.ProtocolRequirements;

/**
 * Reports one NIC as one provider offers it.
 *
 * @param info the info that jofi would use; if jofi cannot use the NIC, the best of its infos
 * @param fabrics all fabrics that it is on; with many providers, one per network address
 * @param capabilities the capabilities of all ways to use it
 * @param lacks what jofi's RDMA protocol needs and the NIC lacks
 */
record NicReport(
    FabricInfo info, List<String> fabrics, Set<Capability> capabilities, List<String> lacks) {

  /**
   * Asks first for what the protocol needs, then for everything, and combines the answers per NIC.
   */
  static List<NicReport> survey(FabricProvider provider, FabricHints hints) {
    List<FabricInfo> all = new ArrayList<>(provider.discover(hints));
    all.addAll(
        provider.discover(hints.withRequired(Set.of()).withThreading(Threading.UNSPECIFIED)));
    Map<String, List<FabricInfo>> byNic =
        all.stream()
            .collect(
                Collectors.groupingBy(
                    info -> info.provider() + "\n" + info.domainName(),
                    LinkedHashMap::new,
                    Collectors.toList()));
    return byNic.values().stream().map(NicReport::join).toList();
  }

  private static NicReport join(List<FabricInfo> ways) {
    FabricInfo best =
        ways.stream()
            .filter(info -> ProtocolRequirements.lacks(info).isEmpty())
            .findFirst()
            .orElse(ways.getFirst());
    Set<Capability> capabilities = EnumSet.noneOf(Capability.class);
    ways.forEach(info -> capabilities.addAll(info.capabilities()));
    return new NicReport(
        best,
        ways.stream().map(FabricInfo::fabricName).distinct().toList(),
        capabilities,
        ProtocolRequirements.lacks(best));
  }

  static TextTable table(List<NicReport> nics) {
    TextTable table =
        new TextTable(
            "PROVIDER",
            "VERSION",
            "FABRIC",
            "DOMAIN",
            "LINK",
            "PCI",
            "MR SCOPE",
            "MR MODE",
            "KEYS",
            "CQ DATA",
            "ADDRESSING",
            "PROGRESS",
            "THREADING",
            "JOFI",
            "CAPS");
    for (NicReport nic : nics) {
      FabricInfo info = nic.info;
      table.row(
          info.provider(),
          dash(info.providerVersion()),
          info.fabricName(),
          info.domainName(),
          link(info.nic()),
          info.nic().pci().map(PciAddress::toString).orElse("-"),
          word(info.registrationScope()),
          dash(names(info.mrModes(), Enum::name)),
          keys(info),
          info.limits().cqDataBytes() + " B",
          word(info.addressing()),
          progress(info),
          word(info.threading()),
          nic.lacks.isEmpty() ? "yes" : "no",
          names(nic.capabilities, Enum::name));
    }
    return table;
  }

  static String json(FabricProvider provider, List<NicReport> nics) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("library", provider.version());
    document.put("nics", nics.stream().map(NicReport::fields).toList());
    return Json.pretty(document);
  }

  private Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("provider", info.provider());
    fields.put("providerVersion", info.providerVersion());
    fields.put("fabrics", fabrics);
    fields.put("domain", info.domainName());
    fields.put("address", info.address());
    fields.put("linkSpeedBitsPerSecond", info.nic().linkSpeedBitsPerSecond());
    fields.put("linkUp", info.nic().linkUp().orElse(null));
    fields.put("mtuBytes", info.nic().mtuBytes());
    fields.put("device", info.nic().device().orElse(null));
    fields.put("driver", info.nic().driver().orElse(null));
    fields.put("firmware", info.nic().firmware().orElse(null));
    fields.put("pciAddress", info.nic().pci().map(PciAddress::toString).orElse(null));
    fields.put("capabilities", capabilities);
    fields.put("mrMode", info.mrModes().stream().sorted().toList());
    fields.put("mrScope", word(info.registrationScope()));
    fields.put("keyOwner", word(info.keyOwner()));
    fields.put("mrKeyBytes", info.limits().mrKeyBytes());
    fields.put("cqDataBytes", info.limits().cqDataBytes());
    fields.put("addressing", word(info.addressing()));
    fields.put("messageOrder", info.messageOrder().stream().sorted().toList());
    fields.put("controlProgress", word(info.controlProgress()));
    fields.put("dataProgress", word(info.dataProgress()));
    fields.put("threading", word(info.threading()));
    fields.put("injectBytes", info.limits().injectBytes());
    fields.put("maxMessageBytes", info.limits().maxMessageBytes());
    fields.put("transmitDepth", info.limits().transmitDepth());
    fields.put("receiveDepth", info.limits().receiveDepth());
    fields.put("mrIovLimit", info.limits().mrIovLimit());
    fields.put("mrCount", info.limits().mrCount());
    fields.put("runsJofi", lacks.isEmpty());
    fields.put("lacks", lacks);
    return fields;
  }

  private static String keys(FabricInfo info) {
    return "%s, %d B"
        .formatted(
            info.keyOwner() == KeyOwner.PROVIDER ? "provider's" : "application's",
            info.limits().mrKeyBytes());
  }

  private static String progress(FabricInfo info) {
    String control = word(info.controlProgress());
    String data = word(info.dataProgress());
    return control.equals(data) ? data : "%s, data %s".formatted(control, data);
  }

  private static String link(NicAttributes nic) {
    String speed =
        nic.linkSpeedBitsPerSecond() == 0
            ? "-"
            : "%.0f Gbit/s".formatted(nic.linkSpeedBitsPerSecond() / 1e9);
    return nic.linkUp().map(up -> up ? speed : speed + " down").orElse(speed);
  }

  private static <E extends Enum<E>> String names(Set<E> set, Function<E, String> name) {
    return set.stream().sorted().map(name).collect(Collectors.joining(" "));
  }

  /** The name of an enum constant as shown to users. */
  static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static String dash(String text) {
    return text.isEmpty() ? "-" : text;
  }
}
