package org.jofi.processes;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.jofi.transport.ProgressThreads;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * One of two processes is killed with SIGKILL: the other reports all that it has pending within 5
 * s, closes within its bounds, and ends well.
 */
class KillTest {
  private static final long MOST_MS = 20_000;

  static Stream<Arguments> deaths() {
    return Providers.forTests().stream()
        .flatMap(
            provider ->
                Stream.of(KillMain.Moment.values())
                    .filter(moment -> happens(provider, moment))
                    .flatMap(
                        moment ->
                            threads(moment).map(each -> Arguments.of(provider, moment, each))));
  }

  /** With threads where they are amid something. */
  private static Stream<ProgressThreads> threads(KillMain.Moment moment) {
    return switch (moment) {
      case TRANSFERRING, FLUSHING, CLOSING, HOLDING_OUR_LOCK ->
          Stream.of(ProgressThreads.NEVER, ProgressThreads.ALWAYS);
      default -> Stream.of(ProgressThreads.NEVER);
    };
  }

  /** Only shm, up to libfabric 1.19, holds a lock that processes share for longer than a moment. */
  private static boolean happens(String provider, KillMain.Moment moment) {
    boolean holding =
        moment == KillMain.Moment.HOLDING_ITS_LOCK || moment == KillMain.Moment.HOLDING_OUR_LOCK;
    return !holding || (provider.equals("shm") && Providers.version().startsWith("libfabric 1."));
  }

  @ParameterizedTest(name = "{0} {1}, progress threads: {2}")
  @MethodSource("deaths")
  void theSurvivorReportsAndEnds(String provider, KillMain.Moment moment, ProgressThreads threads)
      throws Exception {
    try (ProcessPair pair =
        new ProcessPair(KillMain.class, List.of(provider, moment.name(), threads.name()))) {
      long outlived = pair.await(60);
      System.out.printf(
          "%s %s, progress threads %s: the survivor ended %d ms after the death%n%s%n",
          provider, moment, threads, outlived, pair.log());
      assertTrue(outlived <= MOST_MS, () -> "%d ms\n%s".formatted(outlived, pair.log()));
    }
  }
}
