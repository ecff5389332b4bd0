package org.jofi.processes;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;

/** The providers of the installed libfabric that two processes of a machine can meet over. */
final class Providers {
  private static final List<String> WANTED = List.of("net", "tcp", "tcp;ofi_rxm", "shm");

  private Providers() {}

  /** As "libfabric 1.17.0". */
  static String version() {
    return FabricProvider.named("libfabric").version();
  }

  static List<String> forTests() {
    Set<String> installed =
        FabricProvider.named("libfabric").discover(FabricHints.any()).stream()
            .map(FabricInfo::provider)
            .collect(Collectors.toSet());
    List<String> found = WANTED.stream().filter(installed::contains).toList();
    if (found.size() < 3) {
      throw new IllegalStateException("libfabric has %s only".formatted(installed));
    }
    return found;
  }
}
