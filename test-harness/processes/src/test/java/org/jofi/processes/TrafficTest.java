package org.jofi.processes;

import java.util.List;
import java.util.stream.Stream;
import org.jofi.processes.ProcessPair.Compilation;
import org.jofi.transport.ProgressThreads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random sizes, tags, communicators and threads between two processes, every byte checked. {@code
 * -Djofi.traffic.seconds=600} makes it long.
 */
class TrafficTest {
  private static final String SECONDS = System.getProperty("jofi.traffic.seconds", "2");

  static Stream<String> providers() {
    return Providers.forTests().stream();
  }

  /** Over sockets, where several layers are at work; and over devices. */
  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"tcp;ofi_rxm", "efa"})
  void everyByteArrives(String provider) throws Exception {
    run(provider, Compilation.QUICK, List.of(ProgressThreads.NEVER));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("providers")
  @Tag("long")
  void everyByteArrivesOverEachProviderWithAndWithoutProgressThreads(String provider)
      throws Exception {
    run(provider, Compilation.USUAL, List.of(ProgressThreads.NEVER, ProgressThreads.ALWAYS));
  }

  private static void run(String provider, Compilation compilation, List<ProgressThreads> threads)
      throws Exception {
    List<List<String>> runs =
        threads.stream().map(each -> List.of(provider, SECONDS, each.name())).toList();
    try (ProviderPair pair = ProviderPair.inTurn(Series.Part.TRAFFIC, compilation, runs)) {
      pair.await(runs.size() * (60 + Long.parseLong(SECONDS)));
      System.out.println(provider + "\n" + pair.log());
    }
  }
}
