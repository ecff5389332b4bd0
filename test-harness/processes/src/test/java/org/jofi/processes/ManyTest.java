package org.jofi.processes;

import java.util.List;
import java.util.stream.Stream;
import org.jofi.transport.ProgressThreads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Hundreds and thousands of communicators to one process, which is killed; with progress threads
 * over several endpoints.
 */
class ManyTest {
  private static final long BOUND_SECONDS = 120;

  /** Layered on what the others are tested on. */
  private static final String LAYERED = "tcp;ofi_rxm";

  /** Where time or memory for each would show that grows with their number. */
  private static final int THOUSANDS = 4096;

  /** Of which each would have a bound of its own. */
  private static final int HUNDREDS = 512;

  /** What the two short ones leave. */
  static Stream<Arguments> others() {
    List<String> all = Providers.withoutDevices();
    return Stream.of(
            all.stream()
                .filter(provider -> !provider.equals(Providers.plain()))
                .map(provider -> Arguments.of(provider, false, ProgressThreads.NEVER)),
            all.stream().map(provider -> Arguments.of(provider, true, ProgressThreads.NEVER)),
            all.stream()
                .filter(provider -> !provider.equals("shm") && !provider.equals(LAYERED))
                .map(provider -> Arguments.of(provider, false, ProgressThreads.ALWAYS)))
        .flatMap(runs -> runs);
  }

  @Test
  void allCloseWithinOneBound() throws Exception {
    run(Providers.plain(), false, ProgressThreads.NEVER, THOUSANDS);
  }

  @Test
  void whatSeveralEndpointsHaveClosesWithinOneBound() throws Exception {
    run("shm", false, ProgressThreads.ALWAYS, THOUSANDS);
  }

  @ParameterizedTest(name = "{0}, abort: {1}, progress threads: {2}")
  @MethodSource("others")
  @Tag("long")
  void allEndWithinOneBound(String provider, boolean abort, ProgressThreads threads)
      throws Exception {
    run(provider, abort, threads, HUNDREDS);
  }

  private static void run(String provider, boolean abort, ProgressThreads threads, int count)
      throws Exception {
    List<String> arguments =
        List.of(provider, Boolean.toString(abort), threads.name(), Integer.toString(count));
    try (ProviderPair pair =
        new ProviderPair(ManyMain.class, ProcessPair.Compilation.QUICK, arguments)) {
      pair.await(BOUND_SECONDS);
      System.out.println(arguments + "\n" + pair.log());
    }
  }
}
