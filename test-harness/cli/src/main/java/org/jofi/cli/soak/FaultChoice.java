package org.jofi.cli.soak;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Which faults can be injected.
 *
 * @param permitted those that can
 * @param leftOut those that cannot
 */
public record FaultChoice(Set<FaultKind> permitted, List<LeftOut> leftOut) {
  private static final Set<String> OF_INTERFACES =
      Set.of("net", "tcp", "tcp;ofi_rxm", "sockets", "udp;ofi_rxd");

  /**
   * Faults that cannot be injected.
   *
   * @param kinds which
   * @param why the reason
   * @param isUsage whether another command line would help, rather than another machine
   */
  public record LeftOut(Set<FaultKind> kinds, String why, boolean isUsage) {
    @Override
    public String toString() {
      return "%s: %s".formatted(FaultKind.texts(kinds), why);
    }
  }

  /**
   * Chooses of those that are wanted.
   *
   * @param network why there can be no network with rails; asked only if one is needed
   * @param loss why it loses nothing at random; asked only if there can be one
   */
  public static FaultChoice of(
      Set<FaultKind> wanted,
      int rails,
      String provider,
      Supplier<String> network,
      Supplier<String> loss) {
    Set<FaultKind> permitted = EnumSet.noneOf(FaultKind.class);
    Set<FaultKind> ofRails = EnumSet.noneOf(FaultKind.class);
    wanted.forEach(kind -> (kind.isOfRail() ? ofRails : permitted).add(kind));
    List<LeftOut> leftOut = new ArrayList<>();
    if (ofRails.isEmpty()) {
      return new FaultChoice(permitted, leftOut);
    }
    if (rails < 2) {
      leftOut.add(
          new LeftOut(ofRails, "a rail may fail only where there is another: --rails 2", true));
      return new FaultChoice(permitted, leftOut);
    }
    if (!OF_INTERFACES.contains(provider)) {
      leftOut.add(
          new LeftOut(
              ofRails,
              "%s uses no network interfaces that could fail here: --provider net"
                  .formatted(provider),
              true));
      return new FaultChoice(permitted, leftOut);
    }
    String obstacle = network.get();
    if (!obstacle.isEmpty()) {
      leftOut.add(
          new LeftOut(
              ofRails,
              "network namespaces with shaped links cannot be made here, which takes root, ip and tc: "
                  + obstacle,
              false));
      return new FaultChoice(permitted, leftOut);
    }
    if (ofRails.contains(FaultKind.LOSS)) {
      String why = loss.get();
      if (!why.isEmpty()) {
        ofRails.remove(FaultKind.LOSS);
        leftOut.add(
            new LeftOut(
                EnumSet.of(FaultKind.LOSS),
                "packets cannot be dropped at random here, which takes iptables: " + why,
                false));
      }
    }
    permitted.addAll(ofRails);
    return new FaultChoice(permitted, leftOut);
  }
}
