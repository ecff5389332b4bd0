package org.jofi.processes;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random sizes, tags, communicators and threads between two processes, every byte checked. {@code
 * -Djofi.traffic.seconds=600} makes it long.
 */
class TrafficTest {
  private static final String SECONDS = System.getProperty("jofi.traffic.seconds", "6");

  static Stream<String> providers() {
    return Providers.forTests().stream();
  }

  @ParameterizedTest
  @MethodSource("providers")
  void everyByteArrives(String provider) throws Exception {
    try (ProcessPair pair = new ProcessPair(TrafficMain.class, List.of(provider, SECONDS))) {
      pair.await(60 + Long.parseLong(SECONDS));
      System.out.println(provider + ":\n" + pair.log());
    }
  }
}
