package org.jofi.processes;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jofi.processes.ProcessPair.Compilation;
import org.jofi.transport.ProgressThreads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two processes connect, exchange messages, close both sides with 32 messages in flight in each
 * direction, and connect again: as often as {@code -Djofi.stress.rounds} says, or for {@code
 * -Djofi.stress.seconds} beside threads that send, receive, register and deregister on other
 * connections over the same NICs.
 */
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

  /** Both, one after the other, over what leaves most to the protocol. */
  @Test
  void bothCloseAmidMessagesAndOthersAreNotDisturbed() throws Exception {
    String provider = Providers.plain();
    run(List.of(alone(provider), beside(provider, ProgressThreads.NEVER)), Compilation.QUICK);
  }

  /** The longest closes. */
  @Test
  void progressThreadsOfOthersAreNotDisturbed() throws Exception {
    run(List.of(beside("shm", ProgressThreads.ALWAYS)), Compilation.QUICK);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("providers")
  @Tag("long")
  void soItIsOverEachProvider(String provider) throws Exception {
    run(
        List.of(
            alone(provider),
            beside(provider, ProgressThreads.NEVER),
            beside(provider, ProgressThreads.ALWAYS)),
        Compilation.USUAL);
  }

  /** Both close amid messages and connect again, with nothing beside. */
  private static List<String> alone(String provider) {
    int rounds = OVER_SOCKETS.contains(provider) ? ROUNDS : Math.max(5, ROUNDS / 4);
    return List.of(
        provider, ProgressThreads.NEVER.name(), "0", Integer.toString(rounds), UNBOUNDED, RAILS);
  }

  /** The same beside the traffic of two threads. */
  private static List<String> beside(String provider, ProgressThreads threads) {
    // What providers() says of shm shows with threads too, but seldom: a close takes its bound.
    long seconds = provider.equals("shm") ? Math.min(3, SECONDS) : SECONDS;
    return List.of(provider, threads.name(), "2", UNBOUNDED, Long.toString(seconds), RAILS);
  }

  private static void run(List<List<String>> runs, Compilation compilation) throws Exception {
    try (ProviderPair pair = ProviderPair.inTurn(Series.Part.RECONNECT, compilation, runs)) {
      pair.await(runs.size() * (BOUND_SECONDS + SECONDS) + SECONDS_PER_ROUND * ROUNDS);
      System.out.println(runs + "\n" + pair.log());
    }
  }
}
