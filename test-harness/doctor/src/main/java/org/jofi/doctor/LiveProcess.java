package org.jofi.doctor;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jofi.fabric.FabricProvider;

/**
 * The facts about this process that are not in its machine's files: its environment, its JVM and
 * the libfabric that it loads.
 *
 * @param environment its environment variables
 * @param options the options that its JVM was started with
 * @param collectors its garbage collectors
 * @param withoutNativeAccess the module that calls libfabric, if it may not call native code
 * @param fabrics what libfabric offers
 */
public record LiveProcess(
    Map<String, String> environment,
    List<String> options,
    List<String> collectors,
    Optional<String> withoutNativeAccess,
    FabricSurvey fabrics) {

  public LiveProcess {
    environment = Map.copyOf(environment);
    options = List.copyOf(options);
    collectors = List.copyOf(collectors);
  }

  /**
   * Examines this process. It loads libfabric, but no library for GPUs.
   *
   * @param provider the name of the fabric provider to ask
   */
  public static LiveProcess current(String provider) {
    return new LiveProcess(
        System.getenv(),
        ManagementFactory.getRuntimeMXBean().getInputArguments(),
        ManagementFactory.getGarbageCollectorMXBeans().stream()
            .map(GarbageCollectorMXBean::getName)
            .toList(),
        withoutNativeAccess(provider),
        FabricSurvey.of(provider));
  }

  private static Optional<String> withoutNativeAccess(String provider) {
    return FabricProvider.installed().stream()
        .filter(fabrics -> fabrics.name().equals(provider))
        .map(fabrics -> fabrics.getClass().getModule())
        .filter(module -> !module.isNativeAccessEnabled())
        .map(module -> module.isNamed() ? module.getName() : "ALL-UNNAMED")
        .findFirst();
  }

  /** The value of an environment variable; empty if it is not set or empty. */
  String variable(String name) {
    return environment.getOrDefault(name, "");
  }

  /** Whether its JVM was started with this option. */
  boolean started(String option) {
    return options.contains(option);
  }
}
