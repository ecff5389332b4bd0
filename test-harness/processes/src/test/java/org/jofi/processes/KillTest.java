package org.jofi.processes;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.jofi.transport.ProgressThreads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * One of two processes is killed with SIGKILL: the other reports all that it has pending within 5
 * s, closes within its bounds, and ends well.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = ProcessPair.PROCESSORS, mode = ResourceAccessMode.READ)
class KillTest {
  private static final String NAME = "{0} {1}, progress threads: {2}";
  private static final long MOST_MS = 20_000;

  /** Each moment over each provider, and with progress threads while messages are under way. */
  static Stream<Arguments> deaths() {
    return moments()
        .flatMap(
            death -> {
              Stream<Arguments> without = Stream.of(death.arguments(ProgressThreads.NEVER));
              return death.moment == KillMain.Moment.TRANSFERRING
                  ? Stream.concat(without, Stream.of(death.arguments(ProgressThreads.ALWAYS)))
                  : without;
            });
  }

  /** The other moments at which progress threads are amid something. */
  static Stream<Arguments> furtherDeathsWithProgressThreads() {
    return moments()
        .filter(
            death ->
                switch (death.moment) {
                  case FLUSHING, CLOSING, HOLDING_OUR_LOCK -> true;
                  default -> false;
                })
        .map(death -> death.arguments(ProgressThreads.ALWAYS));
  }

  private record Death(String provider, KillMain.Moment moment) {
    Arguments arguments(ProgressThreads threads) {
      return Arguments.of(provider, moment, threads);
    }
  }

  private static Stream<Death> moments() {
    return Providers.forTests().stream()
        .flatMap(
            provider ->
                Stream.of(KillMain.Moment.values())
                    .filter(moment -> happens(provider, moment))
                    .map(moment -> new Death(provider, moment)));
  }

  /** Only shm, up to libfabric 1.19, holds a lock that processes share for longer than a moment. */
  private static boolean happens(String provider, KillMain.Moment moment) {
    boolean holding =
        moment == KillMain.Moment.HOLDING_ITS_LOCK || moment == KillMain.Moment.HOLDING_OUR_LOCK;
    return !holding || (provider.equals("shm") && Providers.version().startsWith("libfabric 1."));
  }

  @ParameterizedTest(name = NAME)
  @MethodSource("furtherDeathsWithProgressThreads")
  @Tag("long")
  void theSurvivorReportsAndEndsAlsoWithProgressThreads(
      String provider, KillMain.Moment moment, ProgressThreads threads) throws Exception {
    theSurvivorReportsAndEnds(provider, moment, threads);
  }

  @ParameterizedTest(name = NAME)
  @MethodSource("deaths")
  void theSurvivorReportsAndEnds(String provider, KillMain.Moment moment, ProgressThreads threads)
      throws Exception {
    try (ProviderPair pair =
        new ProviderPair(
            KillMain.class,
            ProcessPair.Compilation.QUICK,
            List.of(provider, moment.name(), threads.name()))) {
      long outlived = pair.await(60);
      System.out.printf(
          "%s %s, progress threads %s: the survivor ended %d ms after the death%n%s%n",
          provider, moment, threads, outlived, pair.log());
      assertTrue(outlived <= MOST_MS, () -> "%d ms\n%s".formatted(outlived, pair.log()));
    }
  }
}
