package org.jofi.processes;

import java.util.List;
import java.util.stream.Stream;
import org.jofi.transport.ProgressThreads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Thousands of communicators to one process, which is killed; with progress threads over several
 * endpoints.
 */
@ResourceLock(ProcessPair.PROCESSORS)
class ManyTest {
  private static final long BOUND_SECONDS = 120;

  /** Layered on what the others are tested on, so that it is left for the full run. */
  private static final String LAYERED = "tcp;ofi_rxm";

  static Stream<String> providers() {
    return Providers.withoutDevices().stream().filter(provider -> !provider.equals(LAYERED));
  }

  static Stream<Arguments> others() {
    return Stream.concat(
        Providers.withoutDevices().stream().map(provider -> Arguments.of(provider, true)),
        Stream.of(Arguments.of(LAYERED, false)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("providers")
  void allCloseWithinOneBound(String provider) throws Exception {
    run(provider, false, ProgressThreads.NEVER);
  }

  @ParameterizedTest(name = "{0}, abort: {1}")
  @MethodSource("others")
  @Tag("long")
  void allEndWithinOneBound(String provider, boolean abort) throws Exception {
    run(provider, abort, ProgressThreads.NEVER);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("providers")
  void whatSeveralEndpointsHaveClosesWithinOneBound(String provider) throws Exception {
    run(provider, false, ProgressThreads.ALWAYS);
  }

  private static void run(String provider, boolean abort, ProgressThreads threads)
      throws Exception {
    List<String> arguments = List.of(provider, Boolean.toString(abort), threads.name());
    try (ProviderPair pair =
        new ProviderPair(ManyMain.class, ProcessPair.Compilation.USUAL, arguments)) {
      pair.await(BOUND_SECONDS);
      System.out.println(arguments + "\n" + pair.log());
    }
  }
}
