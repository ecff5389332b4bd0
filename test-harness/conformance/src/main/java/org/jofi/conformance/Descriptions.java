package org.jofi.conformance;

import java.util.List;
import java.util.stream.Collectors;
import org.jofi.conformance.subject.Subject;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricUnavailableException;

/** Says what was examined. */
final class Descriptions {
  private Descriptions() {}

  /**
   * What a subject's first NIC is like.
   *
   * @throws FabricUnavailableException if discovery finds none
   */
  static Report.Description of(Subject subject) {
    List<FabricInfo> found = subject.discover(subject.hints());
    if (found.isEmpty()) {
      throw new FabricUnavailableException(
          "%s: discovery finds no NIC of %s"
              .formatted(subject.provider().version(), subject.name()));
    }
    FabricInfo info = found.getFirst();
    return new Report.Description(
        subject.name(), source(subject.provider().version()), info.toString(), claims(info));
  }

  /** Which library it is, and neither where it lies nor what else is in it: results travel. */
  private static String source(String version) {
    return version.split(" from |, ", 2)[0];
  }

  private static String claims(FabricInfo info) {
    return "mr_mode %s; keys of the %s, addresses %s; CQ data %d B; progress %s/%s; threading %s"
        .formatted(
            info.mrModes().isEmpty()
                ? "none"
                : info.mrModes().stream().sorted().map(Enum::name).collect(Collectors.joining("|")),
            info.keyOwner().name().toLowerCase(java.util.Locale.ROOT),
            info.addressing().name().toLowerCase(java.util.Locale.ROOT),
            info.limits().cqDataBytes(),
            info.controlProgress(),
            info.dataProgress(),
            info.threading());
  }
}
