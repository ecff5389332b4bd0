package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.simulated.SimulatedNic;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Link;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Rails that fall silent, for a while or for good, at either side and in the middle of everything,
 * while one stays sound: every message arrives, and right, and so does what is written and read;
 * and no byte lands in memory after its receive was over, which is written over as soon as it is.
 * If a NIC dies with what its queue held, messages may fail instead, and no others do. So they may,
 * seldom, where an operation is complete when the peer's NIC has it: if the rail closes before the
 * NIC passed it on, the word of it is lost. And so may a write or read where registrations belong
 * to endpoints: its key may go with the rail that the peer closes just then.
 */
class RailDeathTest {
  private static final int SEEDS = 10;

  /** Of runs in which all messages but those in groups are of device memory, at both sides. */
  private static final int STAGED_SEEDS = 3;

  /** 2000 take ten minutes. */
  private static final int MORE_SEEDS = Integer.getInteger("jofi.rail-deaths", 250);

  private static final long SECOND = 1_000_000_000;
  private static final int MESSAGES = 60;
  private static final int FAULTS = 12;

  /** In at most one run of so many messages may fail, of those in which they may. */
  private static final int SELDOM = 100;

  /**
   * In at most one of so many a write or read may lose its key. It is one in 200: 7 of 1,400, and
   * 250 runs in which it happens no more often show up to 4.
   */
  private static final int SELDOM_A_KEY = 50;

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void messagesSurvive(Profile profile) {
    survives(profile, 1, SEEDS, false, false);
  }

  @ParameterizedTest
  @MethodSource("profiles")
  @Tag("long")
  void messagesSurviveWhatever(Profile profile) {
    survives(profile, 1L + SEEDS, MORE_SEEDS, false, false);
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void stagedMessagesSurvive(Profile profile) {
    survives(profile, 1, STAGED_SEEDS, false, true);
  }

  @ParameterizedTest
  @MethodSource("profiles")
  @Tag("long")
  void stagedMessagesSurviveWhatever(Profile profile) {
    survives(profile, 1L + STAGED_SEEDS, MORE_SEEDS / 4, false, true);
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void whatDiesWithItsQueueHarmsNothingElse(Profile profile) {
    survives(profile, 1, SEEDS, true, false);
  }

  @ParameterizedTest
  @MethodSource("profiles")
  @Tag("long")
  void whatDiesWithItsQueueNeverHarmsAnythingElse(Profile profile) {
    survives(profile, 1L + SEEDS, 1L + SEEDS + MORE_SEEDS / 10, true, false);
  }

  private static void survives(
      Profile profile, long first, long last, boolean deaths, boolean staged) {
    int lost = 0;
    int failed = 0;
    int lostKeys = 0;
    for (long seed = first; seed <= last; seed++) {
      Run run = new Run(profile, seed, deaths, staged);
      run.run();
      lost += run.lost;
      failed += run.hasFailed(MessageFlow.class) ? 1 : 0;
      lostKeys += run.hasFailed(OneSidedFlow.class) ? 1 : 0;
    }
    if (!deaths) {
      assertSeldom("messages", failed, SELDOM, last - first + 1);
      assertSeldom("writes and reads", lostKeys, SELDOM_A_KEY, last - first + 1);
    }
    int rails = lost;
    assertTrue(rails > last - first, () -> "of rails only " + rails + " were lost");
  }

  private static void assertSeldom(String what, int failed, int seldom, long runs) {
    assertTrue(
        (long) failed * seldom <= runs,
        () -> "%s failed in %d of %d runs".formatted(what, failed, runs));
  }

  private static final class Run {
    final boolean deaths;
    final Random random;
    final int rails;
    final int sound;
    final Simulation simulation;
    final Node left;
    final Node right;
    final DeviceMemory leftDevice;
    final DeviceMemory rightDevice;
    final List<Pair> pairs;
    final List<Flow> flows;
    int lost;
    int faults;
    long nextAt;

    Run(Profile profile, long seed, boolean deaths, boolean staged) {
      this.deaths = deaths;
      random = Random.from(new SplittableRandom(seed));
      rails = 2 + random.nextInt(3);
      sound = random.nextInt(rails);
      simulation =
          Simulation.of(profile)
              .seed(seed)
              .nicsPerHost(rails)
              .links((_, _, _, _) -> new Link(1_000, 20_000_000))
              .open();
      EagerGrant eager = random.nextBoolean() ? EagerGrant.NONE : new EagerGrant(16, 63);
      left = node(profile, 0, eager);
      right = node(profile, 1, eager);
      String line = "profile %s, seed %d, %d rails".formatted(profile.name(), seed, rails);
      int some = random.nextBoolean() ? 4 : 0;
      int stagedOf = staged ? 1 : some;
      boolean mayFail = deaths || !profile.equals(Profile.TCP);
      boolean losesKeys = deaths || !left.host.endpoint.registrations.outlivesEndpoints();
      leftDevice = DeviceMemory.of(simulation, 0, left, Flow.SLOTS * Flow.MOST_BYTES);
      rightDevice = DeviceMemory.of(simulation, 1, right, Flow.SLOTS * Flow.MOST_BYTES);
      Pair there = Pair.of(simulation, left, right, line);
      Pair back = Pair.of(simulation, right, left, line + ", back");
      pairs = List.of(there, back);
      flows =
          List.of(
              new MessageFlow(there, mayFail, stagedOf, leftDevice, rightDevice),
              new MessageFlow(back, mayFail, stagedOf, rightDevice, leftDevice),
              new OneSidedFlow(there, losesKeys),
              new OneSidedFlow(back, losesKeys));
    }

    private Node node(Profile profile, int index, EagerGrant eager) {
      return new Node(
          simulation, profile, index, rails, 20 * SECOND, 15 * SECOND, Flow.MOST_BYTES, eager);
    }

    void run() {
      long end = simulation.nanoTime() + 1_000 * SECOND;
      long faultAt = simulation.nanoTime() + random.nextLong(SECOND / 100);
      while (faults < FAULTS
          || flows.stream().anyMatch(this::isShort)
          || !flows.stream().allMatch(Flow::isOver)) {
        long now = simulation.nanoTime();
        assertTrue(now < end, () -> flows.getFirst().pair + ": takes too long");
        if (now >= faultAt) {
          fault();
          faultAt = now + random.nextLong(random.nextBoolean() ? SECOND / 100 : 8 * SECOND);
        }
        for (Flow flow : flows) {
          boolean more = faults < FAULTS || isShort(flow);
          if (more && now >= nextAt && flow.mayStart() && random.nextInt(8) == 0) {
            flow.start(random, now);
            // A burst now and then, so that little is sent while nothing happens.
            nextAt = now + (random.nextInt(16) == 0 ? random.nextLong(2 * SECOND) : 0);
          }
        }
        if (left.connections.progress() + right.connections.progress() == 0) {
          simulation.idle();
        }
        left.host.device.settle();
        right.host.device.settle();
        flows.forEach(flow -> flow.test(simulation.nanoTime()));
      }
      for (Pair pair : pairs) {
        for (int rail = 0; rail < rails; rail++) {
          lost += pair.sends.link.sink.rail(rail).cause().isPresent() ? 1 : 0;
        }
      }
      // What was on its way lands by then, if it ever does.
      long late = simulation.nanoTime() + 40 * SECOND;
      while (simulation.nanoTime() < late) {
        if (left.connections.progress() + right.connections.progress() == 0) {
          simulation.idle();
        }
      }
      flows.forEach(Flow::checkPoison);
      pairs.forEach(Pair::closeConnectionsOnly);
      pairs.forEach(Pair::releaseLeases);
      leftDevice.close();
      rightDevice.close();
      left.host.device.settle();
      right.host.device.settle();
      left.abort();
      right.abort();
      simulation.close();
      pairs.forEach(pair -> pair.arena.close());
    }

    boolean hasFailed(Class<? extends Flow> kind) {
      return flows.stream().anyMatch(flow -> kind.isInstance(flow) && flow.hasFailed());
    }

    private boolean isShort(Flow flow) {
      return !flow.hasFailed() && flow.started() < MESSAGES;
    }

    private void fault() {
      faults++;
      int rail = random.nextInt(rails);
      SimulatedNic nic = simulation.host(random.nextInt(2)).nic(rail);
      if (rail == sound || nic.isDead()) {
        return;
      }
      switch (random.nextInt(6)) {
        case 0 -> {
          if (deaths) {
            nic.kill();
          } else {
            nic.stall(Duration.ofHours(1));
          }
        }
        case 1 -> nic.stall(Duration.ofMillis(300));
        case 2 -> nic.stall(Duration.ofSeconds(1));
        case 3 -> nic.stall(Duration.ofSeconds(5));
        case 4 -> nic.stall(Duration.ofSeconds(30));
        default -> {
          // A quiet while.
        }
      }
    }
  }
}
