package org.jofi.rdma.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jofi.fabric.Access;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.driver.Host;
import org.jofi.rdma.staging.StagingShape;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.simulated.SimulatedDevice;
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

/** Device memory through host blocks: both ends, or one of them, on every profile. */
class StagingTest {
  private static final int SEEDS = Integer.getInteger("jofi.seeds", 100) / 20;

  /** So many at the least that some come through and some do not. */
  private static final int FAULTY_SEEDS = Math.max(60, SEEDS);

  private static final long MOST_BYTES = 64L << 20;

  /** Of a request that nothing happens to, until it fails: more than any that goes on needs. */
  private static final long SILENT_TURNS = 50_000;

  private static final byte UNTOUCHED = (byte) 0xee;

  /** Chunks of 1 KiB, so that short messages have many. */
  private static final EagerGrant[] EAGER = {
    EagerGrant.NONE, new EagerGrant(2, 200), new EagerGrant(64, 1024)
  };

  private static final StagingShape SMALL = new StagingShape(10, 4, 256);

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  /** A message: what is sent and received, and from and into what memory. */
  private record Message(int tag, long sent, long room, boolean stagedThere, boolean stagedHere) {}

  /** Both sides on one thread. */
  private static final class Setting implements AutoCloseable {
    final Arena arena = Arena.ofShared();
    final Simulation simulation;
    final Exchange exchange;
    final SimulatedDevice left;
    final SimulatedDevice right;
    final StagingSpace there;
    final StagingSpace here;
    final List<MemorySegment> sources = new ArrayList<>();
    final List<MemorySegment> targets = new ArrayList<>();
    final List<Long> sends = new ArrayList<>();
    final List<Long> receives = new ArrayList<>();
    private final List<Message> messages;

    Setting(
        Simulation simulation,
        int rails,
        boolean writesData,
        StagingShape shape,
        int rings,
        EagerGrant eager,
        List<Message> messages) {
      this.simulation = simulation;
      this.messages = messages;
      exchange = new Exchange(simulation, rails, 1, writesData, MOST_BYTES, eager);
      left = simulation.host(0).openDevice(MemoryKind.CUDA);
      right = simulation.host(1).openDevice(MemoryKind.CUDA);
      there = space(left, exchange.left, shape, rings);
      here = space(right, exchange.right, shape, rings);
    }

    private static StagingSpace space(
        SimulatedDevice device, Host host, StagingShape shape, int rings) {
      return new StagingSpace(
          device,
          shape,
          memory ->
              host.endpoint
                  .registrations()
                  .acquire(BufferRange.host(memory), Access.WRITE | Access.REMOTE_WRITE),
          4096,
          rings);
    }

    MemorySegment memory(int host, boolean device, long bytes) {
      return device
          ? simulation.host(host).allocateDevice(MemoryKind.CUDA, bytes)
          : arena.allocate(bytes, 64);
    }

    boolean receiveNext() {
      if (receives.size() == messages.size()) {
        return false;
      }
      int index = receives.size();
      Message message = messages.get(index);
      MemorySegment target =
          targets.size() > index
              ? targets.get(index)
              : memory(1, message.stagedHere(), message.room() + 64);
      if (targets.size() == index) {
        target.fill(UNTOUCHED);
        targets.add(target);
      }
      long id;
      if (message.stagedHere()) {
        id = exchange.receiver.receiveStaged(here, target.address(), message.room(), message.tag());
      } else {
        DataRegistration registration = exchange.register(exchange.right, target);
        id =
            Posting.receive(
                exchange.receiver,
                1,
                new long[] {target.address()},
                new long[] {message.room()},
                new int[] {message.tag()},
                new DataRegistration[] {registration});
      }
      here.grow();
      return id != Result.TRY_AGAIN && receives.add(id);
    }

    boolean sendNext() {
      if (sends.size() == messages.size()) {
        return false;
      }
      int index = sends.size();
      Message message = messages.get(index);
      if (sources.size() == index) {
        MemorySegment source = memory(0, message.stagedThere(), message.sent() + 1);
        for (long at = 0; at < message.sent(); at++) {
          source.set(ValueLayout.JAVA_BYTE, at, content(index, at));
        }
        sources.add(source);
      }
      MemorySegment source = sources.get(index);
      long id =
          message.stagedThere()
              ? exchange.sender.sendStaged(there, source.address(), message.sent(), message.tag())
              : Posting.send(
                  exchange.sender,
                  source.address(),
                  message.sent(),
                  message.tag(),
                  exchange.register(exchange.left, source));
      there.grow();
      return id != Result.TRY_AGAIN && sends.add(id);
    }

    private static String waiting(List<Long> ids, RequestQueue requests) {
      StringBuilder text = new StringBuilder().append(ids.size());
      for (int i = 0; i < ids.size(); i++) {
        int slot = requests.table().slot(ids.get(i));
        if (slot >= 0) {
          text.append("; ").append(i).append(": ");
          text.append(requests.request(slot).strategy().missing());
        }
      }
      return text.toString();
    }

    /** Posts and polls until all is over; what each request came to, sends first. */
    long[][] drive() {
      long[][] results = new long[2][messages.size()];
      java.util.Arrays.fill(results[0], Result.IN_PROGRESS);
      java.util.Arrays.fill(results[1], Result.IN_PROGRESS);
      int over = 0;
      int idle = 0;
      while (over < 2 * messages.size()) {
        int before = over + sends.size() + receives.size();
        while (receiveNext()) {
          idle = 0;
        }
        while (sendNext()) {
          idle = 0;
        }
        int events = exchange.progress();
        over += collect(results[0], sends, true) + collect(results[1], receives, false);
        if (events == 0 && before == over + sends.size() + receives.size()) {
          simulation.idle();
          idle++;
          int at = over;
          assertTrue(
              idle < 200_000,
              () ->
                  "stalls with %d over, sent %s, received %s"
                      .formatted(
                          at,
                          waiting(sends, exchange.sender),
                          waiting(receives, exchange.receiver)));
        }
      }
      return results;
    }

    /** Posts and polls until all is over or a side failed; whether one did. */
    boolean driveUntilSomethingFails() {
      long[] sent = new long[messages.size()];
      long[] received = new long[messages.size()];
      java.util.Arrays.fill(sent, Result.IN_PROGRESS);
      java.util.Arrays.fill(received, Result.IN_PROGRESS);
      int over = 0;
      for (long turn = 0; over < 2 * messages.size(); turn++) {
        long now = turn;
        assertTrue(turn < 4 * SILENT_TURNS, () -> "neither fails nor ends: " + now);
        receiveNext();
        sendNext();
        exchange.progress();
        simulation.idle();
        exchange.sender.check(turn, SILENT_TURNS);
        exchange.receiver.check(turn, SILENT_TURNS);
        over += collect(sent, sends, true) + collect(received, receives, false);
        if (exchange.sender.failure() != null || exchange.receiver.failure() != null) {
          return true;
        }
      }
      return false;
    }

    private int collect(long[] results, List<Long> ids, boolean sending) {
      int over = 0;
      for (int i = 0; i < ids.size(); i++) {
        if (results[i] == Result.IN_PROGRESS) {
          results[i] =
              sending ? exchange.sender.test(ids.get(i)) : exchange.receiver.test(ids.get(i));
          over += results[i] == Result.IN_PROGRESS ? 0 : 1;
          if (!sending && results[i] > 0) {
            // All of it has to be there when the receive says so, not only in the end.
            int index = i;
            long at =
                targets
                    .get(i)
                    .asSlice(0, results[i])
                    .mismatch(sources.get(i).asSlice(0, results[i]));
            assertEquals(-1, at, () -> "told too early: " + messages.get(index));
          }
        }
      }
      return over;
    }

    void assertDelivered(String line) {
      long[][] results = drive();
      for (int i = 0; i < messages.size(); i++) {
        Message message = messages.get(i);
        String what = "%s, message %d, %s".formatted(line, i, message);
        assertEquals(message.sent(), results[0][i], what);
        assertEquals(message.sent(), results[1][i], what);
        MemorySegment target = targets.get(i);
        assertEquals(
            message.sent() == 0 ? 0 : -1,
            message.sent() == 0
                ? 0
                : target
                    .asSlice(0, message.sent())
                    .mismatch(sources.get(i).asSlice(0, message.sent())),
            what);
        for (long at = message.sent(); at < target.byteSize(); at++) {
          assertEquals(UNTOUCHED, target.get(ValueLayout.JAVA_BYTE, at), what);
        }
      }
      assertEquals(0, exchange.receiver.dropped() + exchange.strays(), line);
      assertEquals(0, exchange.receiver.inFlight(), line);
    }

    @Override
    public void close() {
      there.close();
      here.close();
      exchange.close();
      assertEquals(0, left.pinned() + right.pinned(), "stays pinned");
      left.close();
      right.close();
      assertEquals(List.of(), simulation.openObjects());
      arena.close();
    }
  }

  private static byte content(long message, long at) {
    return (byte) (at * 31 + (at >>> 10) * 7 + message * 131);
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
        try (Setting setting =
            new Setting(
                simulation,
                rails,
                writesData,
                SMALL,
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
          messages.add(new Message(1, MOST_BYTES, MOST_BYTES, (ends & 1) != 0, (ends & 2) != 0));
        }
        try (Simulation simulation = Simulation.of(profile).nicsPerHost(2).open()) {
          try (Setting setting =
              new Setting(simulation, 2, true, StagingShape.USUAL, 4, EagerGrant.NONE, messages)) {
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
      try (Setting setting =
          new Setting(simulation, 1, true, SMALL, 2, EagerGrant.NONE, List.of(first, second))) {
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
              setting.exchange.sender.sendStaged(
                  setting.there, source.address(), second.sent(), second.tag());
        }
        long result = Result.IN_PROGRESS;
        for (int i = 0; i < 1_000_000 && result == Result.IN_PROGRESS; i++) {
          setting.exchange.progress();
          simulation.idle();
          result = setting.exchange.receiver.test(setting.receives.get(1));
        }
        assertEquals(second.sent(), result);
        assertEquals(-1, setting.targets.get(1).asSlice(0, second.sent()).mismatch(source));
        setting.exchange.sender.fail(failure());
        setting.exchange.receiver.fail(failure());
        quiesce(setting);
      }
    }
  }

  @Test
  void aFailedCopyInTheMiddleFailsTheMessageOnItsSideAndLeavesNothing() {
    Message message = new Message(1, 100_000, 100_000, true, true);
    for (boolean atSender : new boolean[] {true, false}) {
      try (Simulation simulation = Simulation.of(Profile.EFA).open()) {
        try (Setting setting =
            new Setting(
                simulation, 1, true, SMALL, 2, EagerGrant.NONE, List.of(message, message))) {
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
          setting.exchange.sender.fail(failure());
          setting.exchange.receiver.fail(failure());
          quiesce(setting);
        }
      }
    }
  }

  @Test
  void aDeadPeerInTheMiddleFailsTheSend() {
    Message message = new Message(1, 5_000_000, 5_000_000, true, true);
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(Profile.EFA).open()) {
      Setting setting =
          new Setting(simulation, 1, true, SMALL, 2, EagerGrant.NONE, List.of(message));
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
        try (Setting setting =
            new Setting(simulation, rails, writesData, SMALL, 2, EagerGrant.NONE, messages)) {
          failed += setting.driveUntilSomethingFails() ? 1 : 0;
          setting.exchange.sender.fail(failure());
          setting.exchange.receiver.fail(failure());
          quiesce(setting);
          setting.exchange.receiver.peerDone();
        }
      }
    }
    int those = failed;
    assertTrue(failed > FAULTY_SEEDS / 4, () -> "hardly anything failed: " + those);
    assertTrue(failed < FAULTY_SEEDS, "nothing came through");
  }

  private static Failure failure() {
    return new Failure(FailureCause.ABORTED, 0, "test", "");
  }

  /** Lets what was failed come to its end. */
  private static void quiesce(Setting setting) {
    for (int i = 0; i < 100_000; i++) {
      setting.exchange.progress();
      setting.simulation.idle();
      if (setting.exchange.sender.isQuiet() && setting.exchange.receiver.isQuiet()) {
        setting.simulation.settle();
        return;
      }
    }
    throw new AssertionError("does not come to its end");
  }
}
