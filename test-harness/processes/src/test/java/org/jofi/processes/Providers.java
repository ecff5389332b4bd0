package org.jofi.processes;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;

/**
 * The providers of the installed libfabric that two processes of a machine can meet over: those
 * that need no device, and those of EFA devices, which are there for child processes only.
 */
final class Providers {
  private static final List<String> WANTED = List.of("net", "tcp", "tcp;ofi_rxm", "shm");

  private Providers() {}

  /** All of them. */
  static List<String> forTests() {
    return Stream.concat(withoutDevices().stream(), ofEfa().stream()).toList();
  }

  /** Those of EFA devices: libfabric 2 has one more, without its own protocol in between. */
  static List<String> ofEfa() {
    return isOfOld() ? List.of("efa") : List.of("efa", "efa-direct");
  }

  /** Whether the libfabric under test is a version 1: the tests run on 1.17, and on 2.1. */
  static boolean isOfOld() {
    return version().startsWith("libfabric 1.");
  }

  static boolean isOfEfa(String provider) {
    return provider.startsWith("efa");
  }

  static boolean isOfVerbs(String provider) {
    return provider.startsWith("verbs");
  }

  /** As "libfabric 1.17.0". */
  static String version() {
    return FabricProvider.named("libfabric").version();
  }

  /** Those that need no device. */
  static List<String> withoutDevices() {
    Set<String> installed = installed();
    List<String> found = WANTED.stream().filter(installed::contains).toList();
    if (found.size() < 3) {
      throw new IllegalStateException("libfabric has %s only".formatted(installed));
    }
    return found;
  }

  /** The one over sockets without a layer: net, which libfabric 2 calls tcp. */
  static String plain() {
    return withoutDevices().getFirst();
  }

  /**
   * The oldest one, which takes long for each message, and reports an own write with the immediate
   * data that it brings the peer; empty where it is not built any more.
   */
  static List<String> sockets() {
    return Stream.of("sockets").filter(installed()::contains).toList();
  }

  private static Set<String> installed() {
    return FabricProvider.named("libfabric").discover(FabricHints.any()).stream()
        .map(FabricInfo::provider)
        .collect(Collectors.toSet());
  }
}
