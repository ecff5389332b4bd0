package org.jofi.doctor;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Checks how libfabric notices that registered memory is freed. Its memhooks monitor changes code
 * of the C library while other threads run it, and a JVM always has other threads.
 */
final class MemoryMonitorCheck implements Check {
  private static final String NAME = "mr-cache";
  private static final String MONITOR = "FI_MR_CACHE_MONITOR";
  private static final List<String> READ = List.of(MONITOR);
  private static final String REMEDY = "export FI_MR_CACHE_MONITOR=disabled";

  /** Providers that need libfabric's registration cache, and therefore its monitor. */
  private static final Map<String, String> NEEDED =
      Map.of(
          "cxi", "cxi then translates local buffers anew for each transfer",
          "opx", "opx then opens no domain");

  @Override
  public List<Finding> examine(Patient patient) {
    return List.of(
        patient
            .process()
            .map(MemoryMonitorCheck::finding)
            .orElse(
                Finding.skip(
                    NAME, "", "not read: " + MONITOR + " belongs to the live machine", READ)));
  }

  private static Finding finding(LiveProcess process) {
    String monitor = process.variable(MONITOR);
    Optional<String> needing =
        NEEDED.keySet().stream().filter(process.fabrics()::offers).sorted().findFirst();
    String remedy = needing.isPresent() ? "export " + MONITOR + "=kdreg2" : REMEDY;
    return switch (monitor) {
      case "disabled" -> disabled(needing, remedy);
      case "kdreg2", "userfaultfd" ->
          Finding.pass(NAME, "", monitor + ", which the kernel does", READ);
      case "memhooks" ->
          Finding.warn(NAME, "", "memhooks rewrites code that other threads run", READ, remedy);
      case "" -> unset(needing, remedy);
      default ->
          Finding.warn(NAME, "", "'" + monitor + "' is no monitor of libfabric's", READ, remedy);
    };
  }

  private static Finding disabled(Optional<String> needing, String remedy) {
    String own = "disabled: jofi keeps its own registrations";
    return needing
        .map(
            provider -> Finding.warn(NAME, "", own + ", but " + NEEDED.get(provider), READ, remedy))
        .orElseGet(() -> Finding.pass(NAME, "", own, READ));
  }

  private static Finding unset(Optional<String> needing, String remedy) {
    return needing
        .map(
            provider ->
                Finding.warn(
                    NAME,
                    "",
                    "not set: "
                        + provider
                        + " caches registrations, by memhooks where the kernel has no kdreg2, and"
                        + " that rewrites code that other threads run",
                    READ,
                    remedy))
        .orElseGet(
            () ->
                Finding.pass(
                    NAME, "", "not set: jofi keeps its own registrations, and disables it", READ));
  }
}
