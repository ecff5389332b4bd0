package org.jofi.libfabric.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jofi.fabric.FabricProvider;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every scenario over every provider for which two processes of one machine are enough. */
@Timeout(300)
class TwoProcessTest {
  /**
   * What providers are known not to do: major version, provider and scenario, and the lack as it is
   * reported.
   */
  private static final Map<String, String> KNOWN_LACKS =
      Map.of(
          "1 shm PEER_DEATH", "a peer's death is not reported",
          "2 shm PEER_DEATH", "a peer's death is not reported",
          "1 shm EMPTY_WRITE", "an empty write with FI_DELIVERY_COMPLETE never completes");

  /** All pairs, or those whose name contains the system property {@code jofi.test.only}. */
  static Stream<Arguments> pairs() {
    String only = System.getProperty("jofi.test.only", "");
    // libfabric 2 calls the sockets provider for reliable datagrams tcp; 1.17 calls it net.
    return Stream.of(major() == 1 ? "net" : "tcp", "tcp;ofi_rxm", "sockets", "shm")
        .flatMap(
            provider ->
                Stream.of(Scenario.values())
                    .filter(scenario -> (provider + " " + scenario).contains(only))
                    .map(scenario -> Arguments.of(provider, scenario)));
  }

  private static int major() {
    return FabricProvider.named("libfabric").version().startsWith("libfabric 1.") ? 1 : 2;
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("pairs")
  void scenario(String provider, Scenario scenario) throws IOException, InterruptedException {
    TwoProcesses processes = new TwoProcesses(provider, scenario);
    Optional<String> lack = processes.run();
    System.out.printf("%s %s: %s%n", provider, scenario, lack.map(l -> "LACKS " + l).orElse("ok"));
    assertEquals(
        Optional.ofNullable(KNOWN_LACKS.get("%d %s %s".formatted(major(), provider, scenario))),
        lack,
        processes::log);
  }
}
