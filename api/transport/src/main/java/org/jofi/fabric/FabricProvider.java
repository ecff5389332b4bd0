package org.jofi.fabric;

import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;

/**
 * A source of fabrics, found by {@link ServiceLoader}: libfabric, or the simulated fabric.
 *
 * <p>Any thread. A provider holds no resources until {@link #discover} or {@link #open} is called.
 */
public interface FabricProvider {

  /** {@return a short stable name, such as {@code libfabric} or {@code simulated}} */
  String name();

  /**
   * {@return the library that this provider uses and its version, for the user to read: {@code
   * libfabric 1.17 from /usr/lib/libfabric.so.1}}
   *
   * @throws FabricUnavailableException if something that the provider needs is not on this machine
   */
  String version();

  /**
   * The NICs that match the hints, best first: fi_getinfo(3).
   *
   * @param hints what to look for; {@link FabricHints#any()} sets no names
   * @return one entry per way to use a NIC; empty if nothing matches
   * @throws FabricUnavailableException if something that the provider needs is not on this machine
   * @throws FabricException if the query itself failed
   */
  List<FabricInfo> discover(FabricHints hints);

  /**
   * Opens the fabric of a NIC that {@link #discover} returned: fi_fabric(3). The caller closes it.
   *
   * @param info one that this provider's {@link #discover} returned
   * @return the fabric, without a domain yet
   * @throws IllegalArgumentException if {@code info} is another provider's
   * @throws FabricException if the fabric could not be opened
   */
  Fabric open(FabricInfo info);

  /**
   * {@return why NICs may be missing from what {@link #discover} lists, in sentences; empty if
   * nothing is known}
   *
   * @param provider the library's name of the provider that was looked for; empty for any
   */
  default String whyMissing(String provider) {
    return "";
  }

  /**
   * {@return what peers are told of the provider of a NIC}
   *
   * @param info one that this provider's {@link #discover} returned
   */
  default ProviderRelease release(FabricInfo info) {
    return new ProviderRelease(info.provider(), 0, 0);
  }

  /**
   * Why two ends cannot be connected, however they are reached: they put different things on the
   * wire, or into memory that they share. It is asked before anything native knows of the peer,
   * since some libraries crash then.
   *
   * @param own what peers are told of this end: {@link #release}
   * @param peer what the other end told
   * @return why not, and what to do; empty if nothing is known against it
   */
  default Optional<String> obstacle(ProviderRelease own, ProviderRelease peer) {
    return own.provider().equals(peer.provider())
        ? Optional.empty()
        : Optional.of("different providers do not understand each other");
  }

  /**
   * {@return the modules that call native code for it, or reach memory by its address} The JVM has
   * to allow it to them: {@code --enable-native-access}.
   */
  default Set<Module> nativeModules() {
    return Set.of();
  }

  /** {@return the providers on the module path or class path, in no particular order} */
  static List<FabricProvider> installed() {
    return ServiceLoader.load(FabricProvider.class, FabricProvider.class.getClassLoader()).stream()
        .map(ServiceLoader.Provider::get)
        .toList();
  }

  /**
   * {@return the installed provider with this name}
   *
   * @param name a provider's {@link #name()}, such as {@code libfabric}
   * @throws IllegalArgumentException if there is none; the message names those that are installed
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
