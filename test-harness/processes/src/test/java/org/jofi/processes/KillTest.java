package org.jofi.processes;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jofi.processes.KillMain.Moment;
import org.jofi.transport.ProgressThreads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * One of two processes is killed with SIGKILL: the other reports all that it has pending within 5
 * s, closes within its bounds, and ends well, or goes on with another one that is killed.
 */
@Execution(ExecutionMode.CONCURRENT)
class KillTest {
  private static final long BOUND_SECONDS = 60;

  /** Moments of deaths over a provider, each of a process of its own. */
  record Deaths(String provider, ProgressThreads threads, List<Moment> moments) {
    Deaths(String provider, ProgressThreads threads, Moment... moments) {
      this(provider, threads, List.of(moments));
    }

    @Override
    public String toString() {
      return "%s, progress threads: %s, %s".formatted(provider, threads, moments);
    }
  }

  /** Each moment over one provider, and what differs most between them over several. */
  static List<Deaths> eachMoment() {
    String plain = Providers.plain();
    return List.of(
        new Deaths(plain, ProgressThreads.ALWAYS, Moment.TRANSFERRING),
        new Deaths(plain, ProgressThreads.NEVER, Moment.CONNECTING, Moment.SENDS_QUEUED),
        new Deaths(
            "tcp;ofi_rxm",
            ProgressThreads.NEVER,
            Moment.ACCEPTED,
            Moment.RECEIVES_POSTED,
            Moment.FLUSHING),
        new Deaths(
            "shm",
            ProgressThreads.NEVER,
            Moment.TRANSFERRING,
            Moment.CLOSING,
            Moment.HOLDING_ITS_LOCK,
            Moment.HOLDING_OUR_LOCK),
        new Deaths("efa", ProgressThreads.NEVER, Moment.TRANSFERRING));
  }

  /** All the others; with progress threads, what finds them amid something. */
  static Stream<Deaths> others() {
    return Providers.forTests().stream()
        .flatMap(
            provider ->
                Stream.of(
                    others(provider, ProgressThreads.NEVER, Moment.values()),
                    others(
                        provider,
                        ProgressThreads.ALWAYS,
                        Moment.TRANSFERRING,
                        Moment.FLUSHING,
                        Moment.CLOSING,
                        Moment.HOLDING_OUR_LOCK)));
  }

  private static Deaths others(String provider, ProgressThreads threads, Moment... moments) {
    List<Moment> among =
        eachMoment().stream()
            .filter(deaths -> deaths.provider.equals(provider) && deaths.threads == threads)
            .flatMap(deaths -> deaths.moments.stream())
            .toList();
    return new Deaths(
        provider,
        threads,
        Stream.of(moments)
            .filter(moment -> !among.contains(moment) && happens(provider, moment))
            .toList());
  }

  /** Only shm, up to libfabric 1.19, holds a lock that processes share for longer than a moment. */
  private static boolean happens(String provider, Moment moment) {
    boolean holding = moment == Moment.HOLDING_ITS_LOCK || moment == Moment.HOLDING_OUR_LOCK;
    return !holding || (provider.equals("shm") && Providers.isOfOld());
  }

  @ParameterizedTest
  @MethodSource("eachMoment")
  void theSurvivorReportsAndEnds(Deaths deaths) throws Exception {
    run(deaths);
  }

  @ParameterizedTest
  @MethodSource("others")
  @Tag("long")
  void theSurvivorReportsAndEndsOverEachProvider(Deaths deaths) throws Exception {
    run(deaths);
  }

  /** Adapters of InfiniBand, which connect: what differs is how one learns of a death. */
  @Test
  @Tag("long")
  void theSurvivorReportsAndEndsOverAdaptersThatConnect() throws Exception {
    run(new Deaths("verbs;ofi_rxm", ProgressThreads.NEVER, Moment.TRANSFERRING, Moment.CLOSING));
  }

  private static void run(Deaths deaths) throws Exception {
    String moments =
        deaths.moments.stream()
            .filter(moment -> happens(deaths.provider, moment))
            .map(Moment::name)
            .collect(Collectors.joining(","));
    List<String> arguments = List.of(deaths.provider, moments, deaths.threads.name());
    try (ProviderPair pair =
        new ProviderPair(KillMain.class, ProcessPair.Compilation.QUICK, arguments)) {
      long outlived = pair.await(BOUND_SECONDS + BOUND_SECONDS * deaths.moments.size() / 2);
      System.out.printf(
          "%s: the survivor ended %d ms after the last death%n%s%n", deaths, outlived, pair.log());
      assertTrue(
          outlived <= KillMain.SURVIVAL_MS, () -> "%d ms\n%s".formatted(outlived, pair.log()));
    }
  }
}
