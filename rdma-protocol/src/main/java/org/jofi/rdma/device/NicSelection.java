package org.jofi.rdma.device;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jofi.fabric.Capability;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.rdma.spi.ProtocolRequirements;
import org.jofi.rdma.topology.SysfsNet;
import org.jofi.rdma.topology.SysfsNet.NicKind;
import org.jofi.transport.FailureCause;
import org.jofi.transport.ImmediateDelivery;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;

/**
 * The NICs that a transport uses: of one provider, each once, and each able to carry the protocol.
 *
 * @param nics best first; 1 or more
 * @param reason why this provider, a sentence
 */
public record NicSelection(List<FabricInfo> nics, String reason) {
  /** Hardware comes before software. */
  private static final Comparator<FabricInfo> PREFERRED =
      Comparator.comparing((FabricInfo nic) -> nic.traits().software())
          .thenComparingInt(nic -> nic.traits().preference());

  /** Where IPv6 and IPv4 addresses begin that mean something on one link only. */
  private static final Pattern LINK_LOCAL =
      Pattern.compile("\\[fe[89ab][0-9a-f]:.*|169\\.254\\..*");

  private static final int MOST_NAMED = 8;

  public NicSelection {
    nics = List.copyOf(nics);
  }

  /**
   * Looks at what there is.
   *
   * @param net tells what stands behind a NIC
   * @param gpus whether there is GPU memory to reach: then of a hardware NIC's answers one that
   *     reaches it comes first. Providers list those only if asked, behind the others, and EFA and
   *     CXI strip it from an answer that did not ask (fi_getinfo(3), FI_HMEM)
   * @throws TransportException with {@link FailureCause#UNAVAILABLE}, saying what was looked at, if
   *     nothing is suitable; with {@link FailureCause#FABRIC} if the query failed
   */
  public static NicSelection of(
      FabricProvider provider, TransportOptions options, SysfsNet net, boolean gpus) {
    String wanted = options.provider();
    List<FabricInfo> all = discover(provider, wanted);
    if (all.isEmpty()) {
      String what =
          wanted.isEmpty()
              ? provider.version() + " lists no NIC"
              : "%s lists no NIC of provider '%s'; it has %s"
                  .formatted(provider.version(), wanted, names(discover(provider, "")));
      String why = provider.whyMissing(wanted);
      throw unavailable(why.isEmpty() ? what : what + ". " + why);
    }
    List<FabricInfo> found =
        all.stream().filter(nic -> options.nics().admits(nic.domainName())).toList();
    if (found.isEmpty()) {
      throw unavailable(
          "no NIC is among those that are asked for, '%s'; there are %s"
              .formatted(
                  options.nics(), all.stream().map(FabricInfo::domainName).distinct().toList()));
    }
    List<FabricInfo> suitable =
        found.stream().filter(nic -> lacks(nic, options).isEmpty()).toList();
    if (suitable.isEmpty()) {
      throw unavailable(
          "no NIC can carry the protocol: "
              + found.stream()
                  .limit(MOST_NAMED)
                  .map(nic -> "%s: %s".formatted(nic, String.join(", ", lacks(nic, options))))
                  .collect(Collectors.joining("; ")));
    }
    FabricInfo best = suitable.stream().min(PREFERRED).orElseThrow();
    String chosen = best.provider();
    // Software copies to GPU memory through the host by itself; staging does that faster.
    boolean direct = gpus && !best.traits().software();
    List<FabricInfo> nics = distinct(suitable, chosen, net, direct);
    return new NicSelection(
        nics, reason(wanted, chosen, names(suitable)) + (direct ? gpuReason(nics) : ""));
  }

  private static List<FabricInfo> discover(FabricProvider provider, String wanted) {
    FabricHints hints = FabricHints.any();
    try {
      return provider.discover(wanted.isEmpty() ? hints : hints.withProvider(wanted));
    } catch (FabricUnavailableException e) {
      throw new TransportException(FailureCause.UNAVAILABLE, String.valueOf(e.getMessage()), e);
    } catch (FabricException e) {
      throw new TransportException(
          FailureCause.FABRIC, "cannot list the NICs: " + e.getMessage(), e);
    }
  }

  private static List<String> lacks(FabricInfo nic, TransportOptions options) {
    List<String> lacks = new ArrayList<>(ProtocolRequirements.lacks(nic));
    if (options.requireGpuDirect() && !nic.has(Capability.HMEM)) {
      lacks.add("no device memory (FI_HMEM), which requireGpuDirect demands");
    }
    if (options.tuning().immediateDelivery() == ImmediateDelivery.WRITE_DATA && !nic.writesData()) {
      lacks.add("no writes with immediate data (fi_writedata), which were demanded");
    }
    return lacks;
  }

  /**
   * One way to use each NIC, those first that reach most: by a card before through the kernel, by
   * an address that other links know before one that they do not; otherwise in the provider's
   * order.
   */
  private static List<FabricInfo> distinct(
      List<FabricInfo> suitable, String provider, SysfsNet net, boolean direct) {
    Map<String, FabricInfo> best = new LinkedHashMap<>();
    for (FabricInfo nic : suitable) {
      if (nic.provider().equals(provider)) {
        best.merge(
            nic.domainName(), nic, (one, other) -> isBetter(other, one, direct) ? other : one);
      }
    }
    Map<String, NicKind> kinds =
        best.values().stream().collect(Collectors.toMap(FabricInfo::domainName, net::kind));
    Comparator<FabricInfo> reach =
        Comparator.comparing((FabricInfo nic) -> kinds.get(nic.domainName()) == NicKind.LOOPBACK)
            .thenComparing(NicSelection::isLinkLocal)
            .thenComparing(nic -> kinds.get(nic.domainName()));
    return best.values().stream().sorted(reach).toList();
  }

  private static boolean isBetter(FabricInfo other, FabricInfo one, boolean direct) {
    if (direct && one.has(Capability.HMEM) != other.has(Capability.HMEM)) {
      return other.has(Capability.HMEM);
    }
    return isLinkLocal(one) && !isLinkLocal(other);
  }

  private static boolean isLinkLocal(FabricInfo nic) {
    return LINK_LOCAL.matcher(nic.address()).matches();
  }

  private static List<String> names(List<FabricInfo> nics) {
    return nics.stream().map(FabricInfo::provider).distinct().sorted().toList();
  }

  private static String reason(String wanted, String chosen, List<String> suitable) {
    return wanted.isEmpty()
        ? "Provider %s is used, of those that can carry the protocol: %s."
            .formatted(chosen, String.join(", ", suitable))
        : "Provider %s is used, as configured.".formatted(chosen);
  }

  private static String gpuReason(List<FabricInfo> nics) {
    long direct = nics.stream().filter(nic -> nic.has(Capability.HMEM)).count();
    return direct == nics.size()
        ? " There is a GPU, whose memory its NICs say they reach (FI_HMEM)."
        : " There is a GPU, but %d of %d NICs do not say that they reach its memory (FI_HMEM)."
            .formatted(nics.size() - direct, nics.size());
  }

  private static TransportException unavailable(String why) {
    return new TransportException(FailureCause.UNAVAILABLE, why);
  }
}
