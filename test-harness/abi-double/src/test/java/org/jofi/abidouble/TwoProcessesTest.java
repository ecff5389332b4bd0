package org.jofi.abidouble;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.processes.ProcessPair;
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
  private static final long BOUND_SECONDS = 120;

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
            new PeerSettings(Exchange.MESSAGES, 2, true, true, false, Path.of("board")),
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
            cxi(Exchange.CLOSE_UNDER_LOAD, 4),
            cxi(Exchange.DEATH_OF_ONE, 2));
    return Stream.concat(lengths, others);
  }

  private static PeerSettings cxi(Exchange exchange, int rails) {
    return new PeerSettings(exchange, rails, true, false, true, Path.of("board"));
  }

  private static PeerSettings withDescriptors(Exchange exchange, int rails) {
    return new PeerSettings(exchange, rails, false, true, true, Path.of("board"));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void breaksNoRule(PeerSettings settings) throws IOException, InterruptedException {
    List<String> arguments = settings.withBoard(folder.resolve("board")).arguments();
    try (ProcessPair pair = new ProcessPair(Peer.class, arguments)) {
      pair.await(BOUND_SECONDS);
    }
  }
}
