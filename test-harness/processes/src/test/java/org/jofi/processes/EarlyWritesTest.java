package org.jofi.processes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Stream;
import org.jofi.efadouble.EfaDouble;
import org.jofi.efadouble.Option;
import org.jofi.processes.ProcessPair.Compilation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An acceptor that receives and writes as soon as it can, over each rail, while the connector has
 * not seen the answer: an EFA device takes no RDMA from whom it does not know.
 */
@Tag("libfabric-2.1")
@ResourceLock(ProcessPair.PROCESSORS)
class EarlyWritesTest {
  private static final long BOUND_SECONDS = 60;

  /** The device's word for it: EFA_IO_COMP_STATUS_REMOTE_ERROR_UNKNOWN_PEER. */
  private static final String UNKNOWN_PEER = "ended with status 14";

  /** In order, and each packet late by up to 100 us, so that they change places. */
  static Stream<Arguments> providers() {
    return Providers.ofEfa().stream()
        .flatMap(provider -> Stream.of(0, 100).map(micros -> Arguments.of(provider, micros)));
  }

  @ParameterizedTest(name = "{0}, {1} us")
  @MethodSource("providers")
  void whoAcceptsWritesNothingThatTheConnectorsDevicesRefuse(String provider, int delayMicros)
      throws Exception {
    try (EfaDouble efa =
            EfaDouble.devices(2).with(Option.TRACE, 1).with(Option.DELAY_US, delayMicros);
        ProcessPair pair =
            new ProcessPair(
                EarlyWritesMain.class, Compilation.USUAL, efa.environment(), List.of(provider))) {
      pair.await(BOUND_SECONDS);
      efa.demandNoViolations();
      List<String> refused =
          pair.log().lines().filter(line -> line.endsWith(UNKNOWN_PEER)).toList();
      assertEquals(List.of(), refused, pair::log);
    }
  }
}
