package org.jofi.abidouble;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.processes.ProcessPair;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The whole protocol between two processes, in endpoint scope, with sockets in between: neither
 * process breaks a rule, and each closes everything that it opened, in order.
 */
@Timeout(300)
class TwoProcessesTest {
  private static final long BOUND_SECONDS = 240;

  @TempDir private Path folder;

  /** What leaves both processes as they were, so that they go through all of it: by subject. */
  static Stream<Arguments> inTurn() {
    List<PeerSettings> messages =
        Stream.concat(
                Stream.of(1, 2, 4)
                    .flatMap(
                        rails ->
                            Stream.of(
                                cxi(Exchange.MESSAGES, rails),
                                withDescriptors(Exchange.MESSAGES, rails))),
                Stream.of(
                    new PeerSettings(Exchange.MESSAGES, 2, true, true, false, Path.of("board"))))
            .toList();
    return Stream.of(
        Arguments.of("messages", messages),
        Arguments.of("groups", List.of(cxi(Exchange.GROUPS, 1), cxi(Exchange.GROUPS, 4))),
        Arguments.of(
            "flushes",
            List.of(
                cxi(Exchange.FLUSHES, 1),
                cxi(Exchange.FLUSHES, 4),
                withDescriptors(Exchange.FLUSHES, 2))),
        Arguments.of(
            "one-sided",
            List.of(
                cxi(Exchange.ONE_SIDED, 1),
                cxi(Exchange.ONE_SIDED, 4),
                withDescriptors(Exchange.ONE_SIDED, 2),
                cxi(Exchange.WRONG_TARGETS, 1),
                cxi(Exchange.WRONG_TARGETS, 4))));
  }

  /** What ends amid something. */
  static Stream<PeerSettings> alone() {
    return Stream.of(
        cxi(Exchange.CLOSE_IN_FLIGHT, 2),
        cxi(Exchange.ABORT_IN_FLIGHT, 2),
        cxi(Exchange.CLOSE_UNDER_LOAD, 4),
        cxi(Exchange.DEATH_OF_ONE, 2));
  }

  private static PeerSettings cxi(Exchange exchange, int rails) {
    return new PeerSettings(exchange, rails, true, false, true, Path.of("board"));
  }

  private static PeerSettings withDescriptors(Exchange exchange, int rails) {
    return new PeerSettings(exchange, rails, false, true, true, Path.of("board"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("inTurn")
  void breaksNoRule(String subject, List<PeerSettings> settings)
      throws IOException, InterruptedException {
    run(settings);
  }

  @ParameterizedTest
  @MethodSource("alone")
  void breaksNoRuleAtItsEnd(PeerSettings settings) throws IOException, InterruptedException {
    run(List.of(settings));
  }

  private void run(List<PeerSettings> settings) throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>();
    for (PeerSettings one : settings) {
      arguments.add(one.withBoard(folder.resolve("board" + arguments.size())).argument());
    }
    try (ProcessPair pair = new ProcessPair(Peer.class, ProcessPair.Compilation.QUICK, arguments)) {
      pair.await(BOUND_SECONDS);
    }
  }
}
