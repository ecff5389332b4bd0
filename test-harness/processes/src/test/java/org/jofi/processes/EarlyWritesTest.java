package org.jofi.processes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Stream;
import org.jofi.efadouble.EfaDouble;
import org.jofi.efadouble.Option;
import org.jofi.processes.ProcessPair.Compilation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An acceptor that receives and writes as soon as it can, over each rail, while the connector has
 * not seen the answer: an EFA device takes no RDMA from whom it does not know.
 */
@Tag("libfabric-2.1")
class EarlyWritesTest {
  private static final long BOUND_SECONDS = 60;

  /** The device's word for it: EFA_IO_COMP_STATUS_REMOTE_ERROR_UNKNOWN_PEER. */
  private static final String UNKNOWN_PEER = "ended with status 14";

  /** Each packet is late by up to this, so that they change places; or they come in order. */
  private static final int DELAY_MICROS = 100;

  /** The newest one: libfabric 2 has more of them than 1. */
  @Test
  void whoAcceptsWritesNothingThatTheConnectorsDevicesRefuse() throws Exception {
    run(Providers.ofEfa().getLast(), DELAY_MICROS);
  }

  static Stream<Arguments> others() {
    String newest = Providers.ofEfa().getLast();
    return Providers.ofEfa().stream()
        .flatMap(provider -> Stream.of(0, DELAY_MICROS).map(late -> Arguments.of(provider, late)))
        .filter(run -> !List.of(newest, DELAY_MICROS).equals(List.of(run.get())));
  }

  @ParameterizedTest(name = "{0}, {1} us")
  @MethodSource("others")
  @Tag("long")
  void inOrderAsWell(String provider, int delayMicros) throws Exception {
    run(provider, delayMicros);
  }

  private static void run(String provider, int delayMicros) throws Exception {
    try (EfaDouble efa =
            EfaDouble.devices(2).with(Option.TRACE, 1).with(Option.DELAY_US, delayMicros);
        ProcessPair pair =
            new ProcessPair(
                EarlyWritesMain.class, Compilation.QUICK, efa.environment(), List.of(provider))) {
      pair.await(BOUND_SECONDS);
      efa.demandNoViolations();
      List<String> refused =
          pair.log().lines().filter(line -> line.endsWith(UNKNOWN_PEER)).toList();
      assertEquals(List.of(), refused, pair::log);
    }
  }
}
