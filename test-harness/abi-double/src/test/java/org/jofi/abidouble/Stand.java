package org.jofi.abidouble;

import java.util.List;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;

/** The providers that the double is put in front of. */
final class Stand {
  /** TCP sockets without a layer above: they are called net in libfabric 1.17, tcp in 2.x. */
  static final List<String> PROVIDERS = List.of("net", "tcp");

  private Stand() {}

  /** The one on this machine's own address. */
  static FabricInfo loopback(FabricProvider provider) {
    return provider.discover(FabricHints.any()).stream()
        .filter(info -> PROVIDERS.contains(info.provider()))
        .filter(info -> info.address().startsWith("127.0.0.1"))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no TCP sockets on 127.0.0.1"));
  }
}
