package org.jofi.processes;

import java.util.List;
import java.util.stream.Stream;
import org.jofi.transport.ProgressThreads;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Processes of one thread that send before they receive, 8 B and 64 MiB: each to itself, and both
 * to each other at once.
 */
@ResourceLock(ProcessPair.PROCESSORS)
class SendFirstTest {
  private static final long BOUND_SECONDS = 120;

  static Stream<Arguments> runs() {
    return Stream.concat(Providers.forTests().stream(), Providers.sockets().stream())
        .flatMap(
            provider ->
                Stream.of(ProgressThreads.NEVER, ProgressThreads.ALWAYS)
                    .map(threads -> Arguments.of(provider, threads)));
  }

  @ParameterizedTest(name = "{0}, progress threads: {1}")
  @MethodSource("runs")
  void whoSendsFirstWaitsForNobody(String provider, ProgressThreads threads) throws Exception {
    List<String> arguments = List.of(provider, threads.name());
    try (ProviderPair pair =
        new ProviderPair(SendFirstMain.class, ProcessPair.Compilation.USUAL, arguments)) {
      pair.await(BOUND_SECONDS);
      System.out.println(arguments + "\n" + pair.log());
    }
  }
}
