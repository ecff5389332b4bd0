package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jofi.fabric.AddressText;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.libfabric.LibfabricTraits.PortVariables;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Endpoints listen where they may, over every provider with sockets, and say if they cannot. */
@Timeout(120)
@Tag("libfabric-2.1")
class ListeningPortsTest {
  private static final List<String> OVER_SOCKETS =
      List.of("net", "tcp", "net;ofi_rxm", "tcp;ofi_rxm", "sockets", "udp;ofi_rxd");
  private static final int COUNT = 3;

  @TempDir private Path folder;

  /** Opens one endpoint more than there are ports, over each provider in turn. */
  static final class Main {
    private Main() {}

    public static void main(String[] arguments) {
      LibfabricProvider library = new LibfabricProvider();
      for (String provider : OVER_SOCKETS) {
        library.discover(FabricHints.any().withProvider(provider)).stream()
            .filter(info -> info.provider().equals(provider) && info.address().startsWith("127."))
            .findFirst()
            .ifPresent(info -> System.out.println(provider + " " + listen(library, info)));
      }
      LibfabricTraits.PORT_VARIABLES.forEach(
          variables -> System.out.println("left: '" + LibC.variable(variables.low()) + "'"));
    }

    private static String listen(LibfabricProvider library, FabricInfo info) {
      List<Endpoint> endpoints = new ArrayList<>();
      List<String> ports = new ArrayList<>();
      try (Fabric fabric = library.open(info);
          Domain domain = fabric.openDomain();
          AddressVector peers = domain.openAddressVector(1);
          CompletionQueue queue = domain.openCompletionQueue(16, 1)) {
        try {
          for (int i = 0; i <= COUNT; i++) {
            endpoints.add(domain.openEndpoint(EndpointRequest.of("endpoint " + i, peers, queue)));
            String address = AddressText.of(endpoints.getLast().address());
            ports.add(address.substring(address.lastIndexOf(':') + 1));
          }
          return ports + " and no end";
        } catch (FabricException refused) {
          return ports + " then " + refused.getMessage();
        } finally {
          endpoints.forEach(Endpoint::close);
        }
      }
    }
  }

  private String listen(int low) throws IOException, InterruptedException {
    ChildProcess.Outcome outcome =
        ChildProcess.run(
            folder,
            Main.class,
            System.getProperty("jofi.libfabric", ""),
            Map.of("JOFI_PORTS", low + "-" + (low + COUNT - 1)),
            List.of());
    assertEquals(0, outcome.code(), outcome.text());
    return outcome.text();
  }

  /** The first of some that nobody listens at, below those that the kernel gives to others. */
  private static int free() {
    int start = 12_000 + (int) (ProcessHandle.current().pid() % 4_000) * COUNT;
    return IntStream.iterate(start, low -> low + COUNT)
        .filter(low -> IntStream.range(low, low + COUNT).allMatch(ListeningPortsTest::isFree))
        .findFirst()
        .orElseThrow();
  }

  private static boolean isFree(int port) {
    try (ServerSocket _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return true;
    } catch (IOException taken) {
      return false;
    }
  }

  @Test
  void endpointsListenWhereTheyMay() throws Exception {
    int low = free();
    String text = listen(low);
    List<String> lines = text.lines().filter(line -> line.contains(" then ")).toList();
    // Each library has two of them at least.
    assertTrue(lines.size() >= 2 && !text.contains("no end"), text);
    for (String line : lines) {
      List<String> ports =
          List.of(line.substring(line.indexOf('[') + 1, line.indexOf(']')).split(", "));
      List<String> all = IntStream.range(low, low + COUNT).mapToObj(Integer::toString).toList();
      assertEquals(all, List.copyOf(new TreeSet<>(ports)), text);
      assertTrue(
          line.contains("none of the 3 ports of JOFI_PORTS=%d-%d".formatted(low, low + 2)), text);
    }
    // Whoever this process starts, or what else is in it, sees no variable that nobody set.
    assertEquals(2, text.lines().filter("left: ''"::equals).count(), text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"20000", "14100-14000", "0-10", "65000-65536", "a-b", "1-2-3", "-5"})
  void whatIsNoRangeIsRefused(String text) {
    String words =
        String.valueOf(
            assertThrows(FabricUnavailableException.class, () -> ListeningPorts.of(text))
                .getMessage());
    assertTrue(words.contains("JOFI_PORTS='" + text + "'") && words.contains("--ports"), words);
  }

  @Test
  void whatTheUserSetForAProviderCounts() {
    ListeningPorts ports = ListeningPorts.of("14000-14100");
    PortVariables variables = new PortVariables("made-up", "MADE_UP_LOW", "MADE_UP_HIGH");
    Map<String, String> offered = new HashMap<>();
    ports.offer(variables, offered::put);
    assertEquals(Map.of("MADE_UP_LOW", "14000", "MADE_UP_HIGH", "14100"), offered);
    assertTrue(LibC.offerVariable("MADE_UP_HIGH", "30000"));
    try {
      offered.clear();
      ports.offer(variables, offered::put);
      assertEquals(Map.of(), offered);
    } finally {
      LibC.withdrawVariable("MADE_UP_HIGH");
    }
  }
}
