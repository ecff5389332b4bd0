package org.jofi.rdma.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jofi.rdma.engine.StagingExchange.Message;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Staged messages of which something fails in the middle. */
class StagingFailuresTest {
  /** So many at the least that some come through and some do not. */
  private static final int FAULTY_SEEDS = Math.max(60, Integer.getInteger("jofi.seeds", 100) / 20);

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  @Test
  void aFailedCopyInTheMiddleFailsTheMessageOnItsSideAndLeavesNothing() {
    Message message = new Message(1, 100_000, 100_000, true, true);
    for (boolean atSender : new boolean[] {true, false}) {
      try (Simulation simulation = Simulation.of(Profile.EFA).open()) {
        try (StagingExchange setting =
            new StagingExchange(
                simulation,
                1,
                true,
                StagingExchange.SMALL,
                2,
                EagerGrant.NONE,
                List.of(message, message))) {
          (atSender ? setting.left : setting.right).failCopyAfter(40);
          while (setting.receiveNext()) {
            setting.exchange.progress();
          }
          long[] ids = {Result.TRY_AGAIN, Result.TRY_AGAIN};
          long result = Result.IN_PROGRESS;
          for (int i = 0; i < 1_000_000 && result == Result.IN_PROGRESS; i++) {
            if (setting.sends.size() < 2) {
              setting.sendNext();
            }
            setting.exchange.progress();
            simulation.idle();
            if (atSender && !setting.sends.isEmpty()) {
              ids[0] = setting.sends.getFirst();
              result = setting.exchange.sender.test(ids[0]);
            } else if (!atSender) {
              ids[1] = setting.receives.getFirst();
              result = setting.exchange.receiver.test(ids[1]);
            }
          }
          assertEquals(FailureCause.FABRIC.code(), result, "at sender " + atSender);
          Failure why =
              atSender
                  ? setting.exchange.sender.failure(ids[0])
                  : setting.exchange.receiver.failure(ids[1]);
          assertNotNull(why);
          assertTrue(why.toString().contains("a copy failed, as planned"), why::toString);
          setting.failBoth();
        }
      }
    }
  }

  @Test
  void aDeadPeerInTheMiddleFailsTheSend() {
    Message message = new Message(1, 5_000_000, 5_000_000, true, true);
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(Profile.EFA).open()) {
      StagingExchange setting =
          new StagingExchange(
              simulation, 1, true, StagingExchange.SMALL, 2, EagerGrant.NONE, List.of(message));
      assertTrue(setting.receiveNext());
      while (setting.left.copies() < 100) {
        setting.sendNext();
        setting.exchange.progress();
        simulation.idle();
      }
      simulation.host(1).nic(0).kill();
      long result = Result.IN_PROGRESS;
      for (int i = 0; i < 1_000_000 && result == Result.IN_PROGRESS; i++) {
        setting.exchange.left.progress();
        simulation.idle();
        // It may just wait for an offer, with nothing in flight that could fail.
        setting.exchange.sender.check(i, 100_000);
        result = setting.exchange.sender.test(setting.sends.getFirst());
      }
      assertTrue(FailureCause.isFailure(result), () -> "sends: " + setting.sends);
      assertTrue(setting.exchange.sender.isQuiet());
      assertTrue(arena.scope().isAlive());
    }
  }

  /** What was lost may have arrived: a message is whole, or fails, but never counts it twice. */
  @ParameterizedTest
  @MethodSource("profiles")
  void whatFailsInTheMiddleNeverDeliversWrongBytes(Profile profile) {
    int failed = 0;
    for (long seed = 1; seed <= FAULTY_SEEDS; seed++) {
      Random random = Random.from(new SplittableRandom(seed));
      int rails = 1 + random.nextInt(3);
      boolean writesData = profile.behaviour().writeData() && random.nextBoolean();
      List<Message> messages = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        long room = 8_000L + random.nextInt(30_000);
        long sent = random.nextBoolean() ? room : random.nextInt((int) room);
        boolean stagedThere = random.nextBoolean();
        messages.add(new Message(1, sent, room, stagedThere, !stagedThere || random.nextBoolean()));
      }
      try (Simulation simulation =
          Simulation.of(profile)
              .seed(seed)
              .nicsPerHost(rails)
              .faults(FaultPlan.survivable().with(Fault.COMPLETION_ERROR, 0.01))
              .open()) {
        try (StagingExchange setting =
            new StagingExchange(
                simulation,
                rails,
                writesData,
                StagingExchange.SMALL,
                2,
                EagerGrant.NONE,
                messages)) {
          failed += setting.driveUntilSomethingFails() ? 1 : 0;
          setting.failBoth();
        }
      }
    }
    int those = failed;
    assertTrue(failed > FAULTY_SEEDS / 4, () -> "hardly anything failed: " + those);
    assertTrue(failed < FAULTY_SEEDS, "nothing came through");
  }
}
