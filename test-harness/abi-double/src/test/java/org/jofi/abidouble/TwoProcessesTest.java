package org.jofi.abidouble;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jofi.processes.ProcessPair;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The whole protocol between two processes, in endpoint scope, with sockets in between: neither
 * process breaks a rule, and each closes everything that it opened, in order.
 */
@Timeout(300)
class TwoProcessesTest {
  private static final long BOUND_SECONDS = 240;

  @TempDir private Path folder;

  /** One subject after the other in a pair: a JVM takes longer to start than most of them take. */
  private static List<PeerSettings> eachSubject() {
    return List.of(
        cxi(Exchange.MESSAGES, 1),
        withDescriptors(Exchange.MESSAGES, 4),
        new PeerSettings(Exchange.MESSAGES, 2, true, true, false, Path.of("board")),
        cxi(Exchange.GROUPS, 4),
        cxi(Exchange.FLUSHES, 4),
        withDescriptors(Exchange.ONE_SIDED, 2),
        cxi(Exchange.WRONG_TARGETS, 1));
  }

  /** The same with other rails and other modes of registration. */
  private static List<PeerSettings> others() {
    return List.of(
        withDescriptors(Exchange.MESSAGES, 1),
        cxi(Exchange.MESSAGES, 2),
        withDescriptors(Exchange.MESSAGES, 2),
        cxi(Exchange.MESSAGES, 4),
        cxi(Exchange.GROUPS, 1),
        cxi(Exchange.FLUSHES, 1),
        withDescriptors(Exchange.FLUSHES, 2),
        cxi(Exchange.ONE_SIDED, 1),
        cxi(Exchange.ONE_SIDED, 4),
        cxi(Exchange.WRONG_TARGETS, 4));
  }

  /** What ends amid something; a death comes last. */
  private static List<PeerSettings> ends() {
    return List.of(
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

  @Test
  void breaksNoRule() throws IOException, InterruptedException {
    run(eachSubject());
  }

  @Test
  @Tag("long")
  void breaksNoRuleOtherwiseEither() throws IOException, InterruptedException {
    run(others());
  }

  @Test
  void breaksNoRuleAtItsEnd() throws IOException, InterruptedException {
    run(ends());
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
