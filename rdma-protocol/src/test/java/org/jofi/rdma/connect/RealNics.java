package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assumptions.abort;

import java.util.Collections;
import java.util.List;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.rdma.driver.Host;
import org.jofi.rdma.spi.ProtocolRequirements;

/** Two nodes over a provider of libfabric that runs on any machine, within one process. */
final class RealNics {
  private RealNics() {}

  /**
   * The nodes; the test is skipped if the provider is not there.
   *
   * @param rails how often each has the same NIC
   */
  static Node[] nodes(String name, int rails) {
    FabricProvider provider = FabricProvider.named("libfabric");
    List<FabricInfo> infos = List.of();
    try {
      infos =
          provider.discover(FabricHints.any().withProvider(name).withHmem(false)).stream()
              .filter(info -> info.provider().equals(name))
              .filter(info -> ProtocolRequirements.lacks(info).isEmpty())
              .toList();
    } catch (FabricUnavailableException e) {
      skip("no libfabric here: " + e.getMessage());
    }
    if (infos.isEmpty()) {
      skip("%s has no provider %s".formatted(provider.version(), name));
    }
    List<FabricInfo> known = infos;
    FabricInfo nic =
        known.stream()
            .filter(info -> info.address().startsWith("127."))
            .findFirst()
            .orElseGet(known::getFirst);
    List<FabricInfo> nics = Collections.nCopies(rails, nic);
    Node[] nodes = new Node[2];
    for (int i = 0; i < nodes.length; i++) {
      Host host = new Host(provider, nics, i, rails, System::nanoTime, Thread::onSpinWait);
      nodes[i] = new Node(host, true, i + 1, System::nanoTime);
    }
    return nodes;
  }

  private static void skip(String why) {
    System.out.println("[skipped] " + why);
    abort(why);
  }
}
