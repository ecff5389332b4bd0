package org.jofi.libfabric.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jofi.fabric.FabricProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every scenario over every provider for which two processes of one machine are enough. In the
 * short run that is the one over sockets and shm, and on libfabric 2.1 efa, about which most has
 * changed.
 */
@Tag("libfabric-2.1")
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TwoProcessTest {
  /**
   * What providers are known not to do, in the versions of libfabric that were examined: version,
   * provider and scenario, and the lack as it is reported.
   */
  private static final Map<String, String> KNOWN_LACKS =
      Map.of(
          "1.17 shm PEER_DEATH", "a peer's death is not reported",
          "2.1 shm PEER_DEATH", "a peer's death is not reported",
          "1.17 shm EMPTY_WRITE", "an empty write with FI_DELIVERY_COMPLETE never completes");

  private static final String STALL =
      "transfers stall while the peer lives, and then its death is not reported";

  /**
   * What providers fail to do in some runs only: as {@link #KNOWN_LACKS}. The sockets provider,
   * which libfabric deprecates, stalls in the middle of its transfers: its own progress threads
   * sleep in epoll_wait on both sides, with operations in flight and both queues polled. Whoever
   * waits has a deadline of his own.
   */
  private static final Map<String, RareLack> RARE_LACKS =
      Map.of(
          "1.17 sockets PEER_DEATH", new RareLack(STALL, 3, 1721),
          "2.1 sockets PEER_DEATH", new RareLack(STALL, 2, 800));

  /**
   * What depends on the moment of the death: efa of 1.17 emulates writes, and those that the peer
   * had taken never end; nor does fi_close, now and then, which waits for them. The death itself
   * must be reported all the same.
   */
  private static final Map<String, String> LACKS_BY_MOMENT =
      Map.of("1.17 efa PEER_DEATH", "operations in flight to a dead peer never end");

  private final Map<String, TwoProcesses> running = new HashMap<>();

  @AfterAll
  void endAll() {
    running.values().forEach(TwoProcesses::close);
  }

  /** The processes that run scenarios over that provider; new ones if a scenario has spent them. */
  private TwoProcesses processes(String provider) throws IOException {
    TwoProcesses processes = running.get(provider);
    if (processes == null || processes.isSpent()) {
      if (processes != null) {
        processes.close();
      }
      processes = new TwoProcesses(provider);
      running.put(provider, processes);
    }
    return processes;
  }

  private static boolean isOfOld() {
    return version().startsWith("1.");
  }

  /** libfabric 2 calls the sockets provider for reliable datagrams tcp; 1.17 calls it net. */
  private static List<String> first() {
    return isOfOld() ? List.of("net", "shm") : List.of("efa");
  }

  static Stream<Arguments> pairs() {
    return pairs(first().stream());
  }

  /** Not efa-direct, which cuts sends at the MTU and cancels nothing, as half of them need it. */
  static Stream<Arguments> others() {
    return pairs(
        Stream.of(isOfOld() ? "net" : "tcp", "tcp;ofi_rxm", "sockets", "shm", "efa")
            .filter(provider -> !first().contains(provider)));
  }

  /** All pairs, or those whose name contains the system property {@code jofi.test.only}. */
  private static Stream<Arguments> pairs(Stream<String> providers) {
    String only = System.getProperty("jofi.test.only", "");
    return providers.flatMap(
        provider ->
            Stream.of(Scenario.values())
                .filter(scenario -> (provider + " " + scenario).contains(only))
                .map(scenario -> Arguments.of(provider, scenario)));
  }

  private static String version() {
    return FabricProvider.named("libfabric")
        .version()
        .replaceFirst("^libfabric (\\d+\\.\\d+).*$", "$1");
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("pairs")
  void scenario(String provider, Scenario scenario) throws IOException, InterruptedException {
    run(provider, scenario);
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("others")
  @Tag("long")
  void scenarioOfTheOthers(String provider, Scenario scenario)
      throws IOException, InterruptedException {
    run(provider, scenario);
  }

  private void run(String provider, Scenario scenario) throws IOException, InterruptedException {
    TwoProcesses processes = processes(provider);
    Optional<String> lack = processes.run(scenario);
    System.out.printf("%s %s: %s%n", provider, scenario, lack.map(l -> "LACKS " + l).orElse("ok"));
    String pair = "%s %s %s".formatted(version(), provider, scenario);
    RareLack rare = RARE_LACKS.get(pair);
    if (rare != null && lack.equals(Optional.of(rare.what()))) {
      String seen = rare.demandRare(() -> processes(provider).run(scenario));
      System.out.printf("%s %s: %s: %s%n", provider, scenario, rare.what(), seen);
      return;
    }
    if (lack.isPresent() && lack.get().equals(LACKS_BY_MOMENT.get(pair))) {
      return;
    }
    assertEquals(Optional.ofNullable(KNOWN_LACKS.get(pair)), lack, processes::log);
  }
}
