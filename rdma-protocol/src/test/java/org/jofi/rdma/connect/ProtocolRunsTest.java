package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The whole protocol under faults, seed by seed. */
class ProtocolRunsTest {
  private static final int SEEDS = Integer.getInteger("jofi.seeds", 100);
  private static final int GROUPS = 8;

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void everythingSurvivesWhatIsSurvivable(Profile profile) {
    each(SEEDS, seed -> new ProtocolRun(profile, seed, GROUPS, FaultPlan.survivable()).run());
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void everythingSurvivesWhileNumbersWrap(Profile profile) {
    new ProtocolRun(profile, 7, 2_100, FaultPlan.survivable()).run();
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void whatIsReportedEndsInSuccessOrATypedFailure(Profile profile) {
    AtomicLong successes = new AtomicLong();
    AtomicLong failures = new AtomicLong();
    each(
        SEEDS / 4,
        seed -> {
          ProtocolRun.Outcome outcome =
              new ProtocolRun(profile, seed, GROUPS, reported(seed)).run();
          successes.addAndGet(outcome.successes());
          failures.addAndGet(outcome.failures());
        });
    assertTrue(
        failures.get() > 0 && successes.get() > failures.get(),
        () -> successes + " to " + failures);
  }

  /**
   * It posts over that rail at first, and what it posted there waits until the peer says that
   * nothing is open: the endpoint to which it was posted never was, and none follows it.
   */
  @Test
  void aConnectionMadeAfterARailEndedForGoodWaitsForNoFence() {
    new ProtocolRun(Profile.CXI, 125, GROUPS, FaultPlan.survivable().with(Fault.DEAD_RAIL, 0.002))
        .run();
  }

  /** Runs the seeds on all processors; the first that fails is told, with what reproduces it. */
  private static void each(int seeds, LongConsumer run) {
    LongStream.rangeClosed(1, seeds)
        .parallel()
        .mapToObj(
            seed -> {
              try {
                run.accept(seed);
                return null;
              } catch (AssertionError e) {
                return e;
              }
            })
        .filter(Objects::nonNull)
        .findFirst()
        .ifPresent(
            failure -> {
              throw failure;
            });
  }

  private static FaultPlan reported(long seed) {
    FaultPlan plan = FaultPlan.survivable();
    return switch ((int) seed % 4) {
      case 0 -> plan.with(Fault.COMPLETION_ERROR, 0.01);
      case 1 -> plan.with(Fault.DEAD_RAIL, 0.002);
      case 2 -> plan.with(Fault.DEAD_PEER, 0.002);
      default ->
          plan.with(Fault.COMPLETION_ERROR)
              .with(Fault.DEAD_RAIL, 0.001)
              .with(Fault.DEAD_PEER, 0.001);
    };
  }
}
