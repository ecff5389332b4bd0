package org.jofi.processes;

import java.util.List;
import java.util.stream.Stream;
import org.jofi.transport.ProgressThreads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random sizes, tags, communicators and threads between two processes, every byte checked. {@code
 * -Djofi.traffic.seconds=600} makes it long.
 */
@ResourceLock(ProcessPair.PROCESSORS)
class TrafficTest {
  private static final String SECONDS = System.getProperty("jofi.traffic.seconds", "2");

  static Stream<String> providers() {
    return Providers.forTests().stream();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("providers")
  void everyByteArrives(String provider) throws Exception {
    run(provider, ProgressThreads.NEVER);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("providers")
  @Tag("long")
  void everyByteArrivesWithProgressThreads(String provider) throws Exception {
    run(provider, ProgressThreads.ALWAYS);
  }

  private static void run(String provider, ProgressThreads threads) throws Exception {
    try (ProviderPair pair =
        new ProviderPair(
            TrafficMain.class,
            ProcessPair.Compilation.USUAL,
            List.of(provider, SECONDS, threads.name()))) {
      pair.await(60 + Long.parseLong(SECONDS));
      System.out.println(provider + ", progress threads: " + threads + "\n" + pair.log());
    }
  }
}
