package org.jofi.rdma.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jofi.rdma.engine.StagingExchange.Message;
import org.jofi.rdma.staging.StagingShape;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.MessageType;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Device memory through host blocks: both ends, or one of them, on every profile. */
class StagingTest {
  private static final int SEEDS = Integer.getInteger("jofi.seeds", 100) / 20;

  private static final EagerGrant[] EAGER = {
    EagerGrant.NONE, new EagerGrant(2, 200), new EagerGrant(64, 1024)
  };

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  private static List<Message> draw(Random random, int count) {
    int[] tags = {0, -1, random.nextInt()};
    List<Message> messages = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long room = bytes(random);
      messages.add(
          new Message(
              tags[random.nextInt(tags.length)],
              random.nextInt(3) == 0 ? Math.min(bytes(random), room) : room,
              room,
              random.nextBoolean(),
              random.nextBoolean()));
    }
    return messages;
  }

  private static long bytes(Random random) {
    return switch (random.nextInt(6)) {
      case 0 -> random.nextInt(3);
      case 1 -> 1024L * random.nextInt(20);
      case 2 -> random.nextInt(40_000);
      default -> random.nextInt(5_000);
    };
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void everyByteArrivesWhoeverStages(Profile profile) {
    for (long seed = 1; seed <= SEEDS; seed++) {
      Random random = Random.from(new SplittableRandom(seed));
      int rails = 1 + random.nextInt(5);
      boolean writesData = profile.behaviour().writeData() && random.nextInt(3) > 0;
      String line = "profile %s, seed %d".formatted(profile.name(), seed);
      try (Simulation simulation =
          Simulation.of(profile)
              .seed(seed)
              .nicsPerHost(rails)
              .faults(FaultPlan.survivable())
              .open()) {
        try (StagingExchange setting =
            new StagingExchange(
                simulation,
                rails,
                writesData,
                StagingExchange.SMALL,
                1 + random.nextInt(4),
                EAGER[(int) (seed % EAGER.length)],
                draw(random, 30))) {
          setting.assertDelivered(line);
        }
      }
    }
  }

  @Test
  void fromOneByteToSixtyFourMebibytes() {
    for (Profile profile : List.of(Profile.TCP, Profile.EFA)) {
      for (int ends = 1; ends <= 3; ends++) {
        List<Message> messages = new ArrayList<>();
        for (long bytes : new long[] {1, 65_536, 65_537, 1 << 20, (1 << 20) + 1, 9_999_999}) {
          messages.add(new Message(1, bytes, bytes, (ends & 1) != 0, (ends & 2) != 0));
        }
        if (profile.equals(Profile.TCP)) {
          messages.add(
              new Message(
                  1,
                  StagingExchange.MOST_BYTES,
                  StagingExchange.MOST_BYTES,
                  (ends & 1) != 0,
                  (ends & 2) != 0));
        }
        try (Simulation simulation = Simulation.of(profile).nicsPerHost(2).open()) {
          try (StagingExchange setting =
              new StagingExchange(
                  simulation, 2, true, StagingShape.USUAL, 4, EagerGrant.NONE, messages)) {
            setting.assertDelivered(profile.name() + ", ends " + ends);
          }
        }
      }
    }
  }

  /** The receiver posts A, then B; the sender sends B whole before A. */
  @Test
  void aStagedReceiveHoldsUpNoOtherTag() {
    Message first = new Message(1, 300_000, 300_000, true, true);
    Message second = new Message(2, 300_000, 300_000, true, true);
    try (Simulation simulation = Simulation.of(Profile.TCP).open()) {
      try (StagingExchange setting =
          new StagingExchange(
              simulation,
              1,
              true,
              StagingExchange.SMALL,
              2,
              EagerGrant.NONE,
              List.of(first, second))) {
        assertTrue(setting.receiveNext());
        assertFalse(setting.receiveNext(), "there were blocks for two");
        assertTrue(setting.receiveNext());
        MemorySegment source = setting.memory(0, true, second.sent());
        source.fill((byte) 5);
        long id = Result.TRY_AGAIN;
        while (id == Result.TRY_AGAIN) {
          setting.exchange.progress();
          simulation.idle();
          id =
              setting.exchange.sender.send(
                  source.address(), second.sent(), second.tag(), null, setting.there);
        }
        long result = Result.IN_PROGRESS;
        for (int i = 0; i < 1_000_000 && result == Result.IN_PROGRESS; i++) {
          setting.exchange.progress();
          simulation.idle();
          result = setting.exchange.receiver.test(setting.receives.get(1));
        }
        assertEquals(second.sent(), result);
        assertEquals(-1, setting.targets.get(1).asSlice(0, second.sent()).mismatch(source));
        setting.failBoth();
      }
    }
  }

  /** Of more chunks than there can be; and of blocks that were never written to. */
  @Test
  void whatAPeerClaimsOfChunksIsChecked() {
    Message message = new Message(1, 20_000, 20_000, true, true);
    try (Arena arena = Arena.ofConfined();
        Simulation simulation = Simulation.of(Profile.EFA).open();
        StagingExchange setting =
            new StagingExchange(
                simulation, 1, true, StagingExchange.SMALL, 2, EagerGrant.NONE, List.of(message))) {
      assertTrue(setting.receiveNext());
      while (setting.left.copies() < 8) {
        setting.sendNext();
        setting.exchange.progress();
        simulation.idle();
        for (long count : new long[] {1 << 20, 19, 9, 5}) {
          claim(
              setting.exchange, MessageType.CHUNKS_WRITTEN, arena, count + setting.right.copies());
          claim(setting.exchange, MessageType.CHUNKS_TAKEN, arena, count + setting.left.copies());
        }
      }
      setting.assertDelivered("claims");
    }
  }

  private static void claim(Exchange exchange, MessageType type, Arena arena, long count) {
    MemorySegment memory = arena.allocate(ControlMessage.BYTES, 8);
    boolean written = type == MessageType.CHUNKS_WRITTEN;
    ConnectionId of = (written ? exchange.sender : exchange.receiver).link.id;
    ControlMessage.put(memory, of, type, 1, count, null);
    assertTrue(
        written ? exchange.receiver.message(type, memory) : exchange.sender.message(type, memory));
  }
}
