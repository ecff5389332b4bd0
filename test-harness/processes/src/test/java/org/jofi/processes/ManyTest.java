package org.jofi.processes;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Thousands of communicators of one endpoint to one process, which is killed. Each endpoint waits
 * for the dead by itself, so that several take longer.
 */
@ResourceLock(ProcessPair.PROCESSORS)
class ManyTest {
  private static final long BOUND_SECONDS = 120;

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"net", "shm"})
  void allCloseWithinOneBound(String provider) throws Exception {
    run(provider, false);
  }

  @ParameterizedTest(name = "{0}, abort: {1}")
  @CsvSource({"net, true", "tcp;ofi_rxm, true", "tcp;ofi_rxm, false", "shm, true"})
  @Tag("long")
  void allEndWithinOneBound(String provider, boolean abort) throws Exception {
    run(provider, abort);
  }

  private static void run(String provider, boolean abort) throws Exception {
    List<String> arguments = List.of(provider, Boolean.toString(abort));
    try (ProviderPair pair =
        new ProviderPair(ManyMain.class, ProcessPair.Compilation.USUAL, arguments)) {
      pair.await(BOUND_SECONDS);
      System.out.println(arguments + "\n" + pair.log());
    }
  }
}
