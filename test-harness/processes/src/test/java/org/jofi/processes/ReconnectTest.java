package org.jofi.processes;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jofi.transport.ProgressThreads;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two processes connect, exchange messages, close both sides with 32 messages in flight in each
 * direction, and connect again: as often as {@code -Djofi.stress.rounds} says, or for {@code
 * -Djofi.stress.seconds} beside threads that send, receive, register and deregister on other
 * connections over the same NICs.
 */
@ResourceLock(ProcessPair.PROCESSORS)
class ReconnectTest {
  private static final int ROUNDS = Integer.getInteger("jofi.stress.rounds", 10);
  private static final long SECONDS = Long.getLong("jofi.stress.seconds", 3);
  private static final String UNBOUNDED = Integer.toString(Integer.MAX_VALUE);

  private static final String RAILS = "2";

  /** Where a round is short, and where a message that is complete may not have arrived. */
  private static final Set<String> OVER_SOCKETS = Set.of("net", "tcp");

  /** A round takes some milliseconds over sockets, and up to seconds over shm. */
  private static final long SECONDS_PER_ROUND = 4;

  private static final long BOUND_SECONDS = 90;

  /**
   * Without threads, shm is left out: if both sides close amid messages, an operation may stay with
   * the provider until the bound on closing has passed, and sometimes longer.
   */
  static Stream<String> providers() {
    return Providers.forTests().stream().filter(provider -> !provider.equals("shm"));
  }

  static Stream<Arguments> runs() {
    return Stream.concat(
        providers().map(provider -> Arguments.of(provider, ProgressThreads.NEVER)),
        Providers.forTests().stream()
            .map(provider -> Arguments.of(provider, ProgressThreads.ALWAYS)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("providers")
  void bothCloseAmidMessagesAndConnectAgain(String provider) throws Exception {
    int rounds = OVER_SOCKETS.contains(provider) ? ROUNDS : Math.max(5, ROUNDS / 4);
    run(
        List.of(
            provider,
            ProgressThreads.NEVER.name(),
            "0",
            Integer.toString(rounds),
            UNBOUNDED,
            RAILS),
        SECONDS_PER_ROUND * rounds);
  }

  @ParameterizedTest(name = "{0}, progress threads: {1}")
  @MethodSource("runs")
  void othersAreNotDisturbed(String provider, ProgressThreads threads) throws Exception {
    // What providers() says of shm shows with threads too, but seldom: a close takes its bound.
    long seconds = provider.equals("shm") ? Math.min(3, SECONDS) : SECONDS;
    run(List.of(provider, threads.name(), "2", UNBOUNDED, Long.toString(seconds), RAILS), seconds);
  }

  private static void run(List<String> arguments, long seconds) throws Exception {
    try (ProviderPair pair =
        new ProviderPair(ReconnectMain.class, ProcessPair.Compilation.USUAL, arguments)) {
      pair.await(BOUND_SECONDS + seconds);
      System.out.println(arguments + "\n" + pair.log());
    }
  }
}
