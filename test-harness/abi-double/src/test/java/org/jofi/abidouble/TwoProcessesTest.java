package org.jofi.abidouble;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The whole protocol between two processes, in endpoint scope, with sockets in between: neither
 * process breaks a rule, and each closes everything that it opened, in order.
 */
@Timeout(180)
class TwoProcessesTest {
  @TempDir private Path folder;

  static Stream<PeerSettings> cases() {
    Stream<PeerSettings> lengths =
        Stream.of(1, 2, 4)
            .flatMap(
                rails ->
                    Stream.of(
                        cxi(Exchange.MESSAGES, rails), withDescriptors(Exchange.MESSAGES, rails)));
    Stream<PeerSettings> others =
        Stream.of(
            new PeerSettings(Exchange.MESSAGES, 0, 2, true, true, false, Path.of("board")),
            cxi(Exchange.GROUPS, 1),
            cxi(Exchange.GROUPS, 4),
            cxi(Exchange.FLUSHES, 1),
            cxi(Exchange.FLUSHES, 4),
            withDescriptors(Exchange.FLUSHES, 2),
            cxi(Exchange.ONE_SIDED, 1),
            cxi(Exchange.ONE_SIDED, 4),
            withDescriptors(Exchange.ONE_SIDED, 2),
            cxi(Exchange.WRONG_TARGETS, 1),
            cxi(Exchange.WRONG_TARGETS, 4),
            cxi(Exchange.CLOSE_IN_FLIGHT, 2),
            cxi(Exchange.ABORT_IN_FLIGHT, 2),
            cxi(Exchange.CLOSE_UNDER_LOAD, 4));
    return Stream.concat(lengths, others);
  }

  private static PeerSettings cxi(Exchange exchange, int rails) {
    return new PeerSettings(exchange, 0, rails, true, false, true, Path.of("board"));
  }

  private static PeerSettings withDescriptors(Exchange exchange, int rails) {
    return new PeerSettings(exchange, 0, rails, false, true, true, Path.of("board"));
  }

  private PeerSettings process(PeerSettings settings, int index) {
    return new PeerSettings(
        settings.exchange(),
        index,
        settings.rails(),
        settings.providerKeys(),
        settings.localDescriptors(),
        settings.writeData(),
        folder.resolve("board"));
  }

  @Test
  void theSurvivorOfAPeerBreaksNoRule() throws IOException, InterruptedException {
    PeerSettings settings = cxi(Exchange.DEATH_OF_ONE, 2);
    try (PeerProcess one = PeerProcess.start(process(settings, 0), folder);
        PeerProcess other = PeerProcess.start(process(settings, 1), folder)) {
      String handle = one.handle();
      one.tell(other.handle());
      other.tell(handle);
      one.died();
      other.clean();
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void breaksNoRule(PeerSettings settings) throws IOException, InterruptedException {
    try (PeerProcess one = PeerProcess.start(process(settings, 0), folder);
        PeerProcess other = PeerProcess.start(process(settings, 1), folder)) {
      String handle = one.handle();
      one.tell(other.handle());
      other.tell(handle);
      for (PeerProcess peer : List.of(one, other)) {
        String calls = peer.clean();
        assertTrue(calls.contains("fi_mr_regattr"), calls);
        if (settings.exchange() == Exchange.MESSAGES) {
          // What needs the immediate data goes one way or the other, never both.
          assertTrue(calls.contains(settings.writeData() ? "fi_writedata" : "fi_writemsg"), calls);
          assertFalse(!settings.writeData() && calls.contains("fi_writedata"), calls);
        }
      }
    }
  }
}
