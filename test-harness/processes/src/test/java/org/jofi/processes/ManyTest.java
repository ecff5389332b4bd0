package org.jofi.processes;

import java.util.List;
import java.util.stream.Stream;
import org.jofi.transport.ProgressThreads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Thousands of communicators to one process, which is killed. */
@ResourceLock(ProcessPair.PROCESSORS)
class ManyTest {
  private static final long BOUND_SECONDS = 120;

  static Stream<Arguments> further() {
    return Stream.of("net", "tcp;ofi_rxm", "shm")
        .flatMap(
            provider ->
                Stream.of(ProgressThreads.values())
                    .flatMap(
                        threads ->
                            Stream.of(true, false)
                                .map(abort -> Arguments.of(provider, threads, abort))));
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"net", "shm"})
  void allCloseWithinOneBound(String provider) throws Exception {
    run(provider, ProgressThreads.NEVER, false);
  }

  @ParameterizedTest(name = "{0}, progress threads: {1}, abort: {2}")
  @MethodSource("further")
  @Tag("long")
  void allEndWithinOneBound(String provider, ProgressThreads threads, boolean abort)
      throws Exception {
    run(provider, threads, abort);
  }

  private static void run(String provider, ProgressThreads threads, boolean abort)
      throws Exception {
    List<String> arguments = List.of(provider, threads.name(), Boolean.toString(abort));
    try (ProviderPair pair =
        new ProviderPair(ManyMain.class, ProcessPair.Compilation.USUAL, arguments)) {
      pair.await(BOUND_SECONDS);
      System.out.println(arguments + "\n" + pair.log());
    }
  }
}
