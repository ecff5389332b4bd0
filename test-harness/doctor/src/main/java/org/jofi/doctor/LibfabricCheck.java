package org.jofi.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jofi.doctor.machine.Machine;
import org.jofi.doctor.machine.Nic;
import org.jofi.fabric.FabricInfo;
import org.jofi.rdma.spi.ProtocolRequirements;

/**
 * Checks whether libfabric is installed, what it offers, and whether it can use the NICs and the
 * GPUs.
 */
final class LibfabricCheck implements Check {
  private static final String NAME = "libfabric";
  private static final List<String> READ = List.of("fi_getinfo");

  /** Core providers that drive RDMA NICs. */
  private static final Set<String> FOR_NICS =
      Set.of("verbs", "efa", "efa-direct", "cxi", "psm2", "psm3", "opx", "usnic");

  private static final Pattern VERSION = Pattern.compile("([0-9]{1,4})\\.([0-9]{1,4})");

  @Override
  public List<Finding> examine(Patient patient) {
    if (patient.process().isEmpty()) {
      return List.of(Finding.skip(NAME, "", "not read: it belongs to the live machine", List.of()));
    }
    FabricSurvey fabrics = patient.process().get().fabrics();
    if (!fabrics.trouble().isEmpty()) {
      return List.of(
          Finding.fail(
              NAME,
              "",
              fabrics.trouble().strip().replaceAll("\\s+", " "),
              List.of("libfabric.so.1"),
              "sudo apt-get install -y libfabric1"));
    }
    List<Finding> findings = new ArrayList<>();
    findings.add(library(patient.process().get()));
    fabrics.providers().values().stream().map(LibfabricCheck::provider).forEach(findings::add);
    nics(patient.machine(), fabrics).ifPresent(findings::add);
    gpuMemory(patient.machine(), fabrics).ifPresent(findings::add);
    return findings;
  }

  private static Finding library(LiveProcess process) {
    FabricSurvey fabrics = process.fabrics();
    String filter = process.variable("FI_PROVIDER");
    String limited = filter.isEmpty() ? "" : "; FI_PROVIDER=" + filter + " limits it";
    return fabrics.runsAnywhere()
        ? Finding.pass(
            NAME,
            "",
            "%s: %s%s"
                .formatted(
                    fabrics.version(), String.join(", ", fabrics.providers().keySet()), limited),
            READ)
        : Finding.fail(
            NAME,
            "",
            "%s offers nothing that jofi can run on%s".formatted(fabrics.version(), limited),
            READ,
            filter.isEmpty() ? "./jofi info" : "unset FI_PROVIDER");
  }

  private static Finding provider(FabricInfo info) {
    List<String> lacks = ProtocolRequirements.lacks(info);
    String registration = FabricSurvey.registration(info);
    return lacks.isEmpty()
        ? Finding.pass(NAME, info.provider(), registration, READ)
        : Finding.skip(
            NAME,
            info.provider(),
            registration + "; not for jofi: " + String.join("; ", lacks),
            READ);
  }

  private static Optional<Finding> nics(Machine machine, FabricSurvey fabrics) {
    if (machine.rdmaNics().isEmpty() || FOR_NICS.stream().anyMatch(fabrics::offers)) {
      return Optional.empty();
    }
    return Optional.of(
        Finding.warn(
            NAME,
            "RDMA",
            "no provider of it drives "
                + machine.rdmaNics().stream().map(Nic::name).collect(Collectors.joining(", ")),
            READ,
            "sudo apt-get install -y ibverbs-providers librdmacm1; fi_info -l"));
  }

  private static Optional<Finding> gpuMemory(Machine machine, FabricSurvey fabrics) {
    if (!machine.gpuDirectPossible()) {
      return Optional.empty();
    }
    Set<String> reaching = fabrics.reachingDevices();
    reaching.removeIf(provider -> FOR_NICS.stream().noneMatch(provider.concat(";")::startsWith));
    if (reaching.isEmpty()) {
      return Optional.of(
          Finding.warn(
              NAME,
              "GPU memory",
              "no provider for RDMA NICs takes it (FI_HMEM), so jofi stages it through the host",
              READ,
              "JOFI_LIBFABRIC=PATH ./jofi doctor, of a libfabric built --with-cuda"));
    }
    if (machine.dmaBufPossible() && olderThanDmaBuf(fabrics.version())) {
      return Optional.of(
          Finding.warn(
              NAME,
              "GPU memory",
              fabrics.version() + " takes no dma-buf (FI_MR_DMABUF), as it does from 1.20 on",
              READ,
              "JOFI_LIBFABRIC=PATH ./jofi doctor, of a newer libfabric"));
    }
    return Optional.of(
        Finding.pass(NAME, "GPU memory", "taken by " + String.join(", ", reaching), READ));
  }

  private static boolean olderThanDmaBuf(String version) {
    Matcher number = VERSION.matcher(version);
    return number.find()
        && Integer.parseInt(number.group(1)) == 1
        && Integer.parseInt(number.group(2)) < 20;
  }
}
