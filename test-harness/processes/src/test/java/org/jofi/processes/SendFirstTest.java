package org.jofi.processes;

import java.util.List;
import java.util.stream.Stream;
import org.jofi.processes.ProcessPair.Compilation;
import org.jofi.transport.ProgressThreads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Processes of one thread that send before they receive, 8 B and 16 MiB: each to itself, and both
 * to each other at once; without progress threads, and with some.
 */
class SendFirstTest {
  private static final long BOUND_SECONDS = 240;

  /** One over sockets, and one where a peer's processor copies, also its own. */
  private static final List<String> SHORT = List.of("tcp;ofi_rxm", "shm");

  static Stream<String> providers() {
    return Stream.concat(Providers.forTests().stream(), Providers.sockets().stream())
        .filter(provider -> !SHORT.contains(provider));
  }

  @ParameterizedTest(name = "{0}")
  @FieldSource("SHORT")
  void whoSendsFirstWaitsForNobody(String provider) throws Exception {
    run(provider);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("providers")
  @Tag("long")
  void whoSendsFirstWaitsForNobodyOverTheOthers(String provider) throws Exception {
    run(provider);
  }

  private static void run(String provider) throws Exception {
    List<List<String>> runs =
        Stream.of(ProgressThreads.NEVER, ProgressThreads.ALWAYS)
            .map(threads -> List.of(provider, threads.name()))
            .toList();
    try (ProviderPair pair = ProviderPair.inTurn(Series.Part.SEND_FIRST, Compilation.QUICK, runs)) {
      pair.await(BOUND_SECONDS);
      System.out.println(runs + "\n" + pair.log());
    }
  }
}
