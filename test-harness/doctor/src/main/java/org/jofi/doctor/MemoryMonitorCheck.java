package org.jofi.doctor;

import java.util.List;
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

  /** A provider that needs libfabric's registration cache, and therefore its monitor. */
  private static final String NEEDS_CACHE = "cxi";

  private static final List<String> CACHING = List.of("verbs", "efa", NEEDS_CACHE, "opx");

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
    boolean cxi = process.fabrics().offers(NEEDS_CACHE);
    String remedy = cxi ? "export FI_MR_CACHE_MONITOR=kdreg2" : REMEDY;
    return switch (monitor) {
      case "disabled" ->
          cxi
              ? Finding.warn(
                  NAME,
                  "",
                  "disabled: jofi keeps its own registrations, but cxi then translates local"
                      + " buffers anew for each transfer",
                  READ,
                  remedy)
              : Finding.pass(NAME, "", "disabled: jofi keeps its own registrations", READ);
      case "kdreg2", "userfaultfd" ->
          Finding.pass(NAME, "", monitor + ", which the kernel does", READ);
      case "memhooks" ->
          Finding.warn(NAME, "", "memhooks rewrites code that other threads run", READ, remedy);
      case "" -> unset(process, remedy);
      default ->
          Finding.warn(NAME, "", "'" + monitor + "' is no monitor of libfabric's", READ, remedy);
    };
  }

  private static Finding unset(LiveProcess process, String remedy) {
    Optional<String> caching = CACHING.stream().filter(process.fabrics()::offers).findFirst();
    return caching
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
                Finding.pass(NAME, "", "not set, and no provider here caches registrations", READ));
  }
}
