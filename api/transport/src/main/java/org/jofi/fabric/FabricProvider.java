package org.jofi.fabric;

import java.util.List;
import java.util.ServiceLoader;

/**
 * A source of fabrics, found by {@link ServiceLoader}: libfabric's, or a simulated one.
 *
 * <p>Any thread. A provider holds no resources until {@link #discover} or {@link #open} is called.
 */
public interface FabricProvider {

  /** A short stable name, such as {@code libfabric} or {@code simulated}. */
  String name();

  /**
   * What this provider drives, with its version, for people: {@code libfabric 1.17 from
   * /usr/lib/libfabric.so.1}.
   *
   * @throws FabricUnavailableException if what the provider needs is not on this machine
   */
  String version();

  /**
   * The NICs that satisfy the hints, best first: fi_getinfo(3).
   *
   * @return one entry per way to use a NIC; empty if nothing matches
   * @throws FabricUnavailableException if what the provider needs is not on this machine
   * @throws FabricException if the query itself failed
   */
  List<FabricInfo> discover(FabricHints hints);

  /**
   * Opens the fabric of a NIC that {@link #discover} returned: fi_fabric(3). The caller closes it.
   *
   * @throws IllegalArgumentException if {@code info} comes from another provider
   * @throws FabricException if the fabric could not be opened
   */
  Fabric open(FabricInfo info);

  /** The providers that this program was started with, in no particular order. */
  static List<FabricProvider> installed() {
    return ServiceLoader.load(FabricProvider.class).stream()
        .map(ServiceLoader.Provider::get)
        .toList();
  }

  /**
   * The installed provider of that name.
   *
   * @throws IllegalArgumentException if there is none, naming those that are installed
   */
  static FabricProvider named(String name) {
    List<FabricProvider> installed = installed();
    return installed.stream()
        .filter(provider -> provider.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no fabric provider named '%s'; installed: %s"
                        .formatted(
                            name, installed.stream().map(FabricProvider::name).sorted().toList())));
  }
}
