package org.jofi.processes;

import java.util.List;
import java.util.stream.Stream;
import org.jofi.transport.ProgressThreads;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random sizes, tags, communicators and threads between two processes, every byte checked. {@code
 * -Djofi.traffic.seconds=600} makes it long.
 */
class TrafficTest {
  private static final String SECONDS = System.getProperty("jofi.traffic.seconds", "2");

  static Stream<Arguments> runs() {
    return Providers.forTests().stream()
        .flatMap(
            provider ->
                Stream.of(ProgressThreads.NEVER, ProgressThreads.ALWAYS)
                    .map(threads -> Arguments.of(provider, threads)));
  }

  @ParameterizedTest(name = "{0}, progress threads: {1}")
  @MethodSource("runs")
  void everyByteArrives(String provider, ProgressThreads threads) throws Exception {
    try (ProcessPair pair =
        new ProcessPair(TrafficMain.class, List.of(provider, SECONDS, threads.name()))) {
      pair.await(60 + Long.parseLong(SECONDS));
      System.out.println(provider + ", progress threads: " + threads + "\n" + pair.log());
    }
  }
}
