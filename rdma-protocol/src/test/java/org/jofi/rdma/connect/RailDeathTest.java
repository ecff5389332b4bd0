package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jofi.fabric.Access;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.staging.StagingShape;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.simulated.SimulatedDevice;
import org.jofi.simulated.SimulatedNic;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Link;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Rails that fall silent, for a while or for good, at either side and in the middle of everything,
 * while one stays sound: every message arrives, and right; and no byte lands in memory after its
 * receive was over, which is written over as soon as it is. If a NIC dies with what its queue held,
 * messages may fail instead, and no others do. So may staged ones, seldom, where an operation is
 * complete when the peer's NIC has it: if the rail closes just then, the word of it is lost.
 */
class RailDeathTest {
  private static final int SEEDS = 25;
  private static final int MORE_SEEDS = 500;
  private static final long SECOND = 1_000_000_000;
  private static final long MOST_BYTES = 64L << 10;
  private static final long SLOTS = 24;
  private static final int AT_ONCE = 6;
  private static final int MESSAGES = 60;
  private static final int FAULTS = 12;

  /**
   * A rail is found within 6 s, and closes; several may one after the other. What a NIC lost that
   * died fails at the bound on requests, after that.
   */
  private static final long LONGEST_WAIT = 40 * SECOND;

  private static final byte OVER = 0x55;

  /** At most one run of so many may fail, of those that may. */
  private static final int SELDOM = 100;

  /** Chunks of 1 KiB, through 4 blocks. */
  private static final StagingShape SHAPE = new StagingShape(10, 4, 256);

  private static final int RINGS = 2 * AT_ONCE;

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void messagesSurvive(Profile profile) {
    survives(profile, 1, SEEDS, false);
  }

  @ParameterizedTest
  @MethodSource("profiles")
  @Tag("long")
  void messagesSurviveWhatever(Profile profile) {
    survives(profile, 1L + SEEDS, MORE_SEEDS, false);
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void whatDiesWithItsQueueHarmsNothingElse(Profile profile) {
    survives(profile, 1, SEEDS, true);
  }

  private static void survives(Profile profile, long first, long last, boolean deaths) {
    int lost = 0;
    int failed = 0;
    for (long seed = first; seed <= last; seed++) {
      Run run = new Run(profile, seed, deaths);
      run.run();
      lost += run.lost;
      failed += run.flows.stream().anyMatch(flow -> flow.failed) ? 1 : 0;
    }
    int failures = failed;
    assertTrue(
        deaths || (long) failures * SELDOM <= last - first + 1,
        () -> "%d of %d runs failed".formatted(failures, last - first + 1));
    int rails = lost;
    assertTrue(rails > last - first, () -> "of rails only " + rails + " were lost");
  }

  /** Device memory of a host, which no NIC reaches, and the blocks that its messages go through. */
  private record DeviceMemory(
      SimulatedDevice device, StagingSpace space, MemorySegment sent, MemorySegment received)
      implements AutoCloseable {

    static DeviceMemory of(Simulation simulation, int index, Node node) {
      SimulatedDevice device = simulation.host(index).openDevice(MemoryKind.CUDA);
      StagingSpace space =
          new StagingSpace(
              device,
              SHAPE,
              block ->
                  node.host
                      .endpoint
                      .registrations()
                      .acquire(
                          BufferRange.host(block),
                          Access.READ | Access.WRITE | Access.REMOTE_WRITE),
              4096,
              RINGS);
      return new DeviceMemory(
          device,
          space,
          simulation.host(index).allocateDevice(MemoryKind.CUDA, SLOTS * MOST_BYTES),
          simulation.host(index).allocateDevice(MemoryKind.CUDA, SLOTS * MOST_BYTES));
    }

    @Override
    public void close() {
      space.close();
      device.close();
    }
  }

  /** Messages in one direction, each into a slot of its own. */
  private static final class Flow {
    final Pair pair;
    final boolean mayFail;
    final boolean stages;
    final DataRegistration from;
    final DataRegistration to;
    final DeviceMemory source;
    final DeviceMemory target;
    final boolean[] staged = new boolean[(int) SLOTS];
    final ArrayDeque<Message> sends = new ArrayDeque<>();
    final ArrayDeque<Message> receives = new ArrayDeque<>();
    final boolean[] over = new boolean[(int) SLOTS];
    int started;
    boolean failed;
    long lastNs;

    private record Message(int number, long bytes, long id, boolean onDevice) {}

    /** From one host's memory to the other's. */
    Flow(Pair pair, boolean mayFail, boolean stages, DeviceMemory source, DeviceMemory target) {
      this.stages = stages;
      this.source = source;
      this.target = target;
      this.mayFail = mayFail;
      this.pair = pair;
      from = pair.memory(pair.sends, SLOTS * MOST_BYTES);
      to = pair.memory(pair.receives, SLOTS * MOST_BYTES);
    }

    private static MemorySegment slot(MemorySegment memory, int number, long bytes) {
      return memory.asSlice(number % SLOTS * MOST_BYTES, bytes);
    }

    private MemorySegment source(int number, boolean onDevice, long bytes) {
      return slot(onDevice ? source.sent : Pair.segment(from), number, bytes);
    }

    /** Where the message of a slot goes. */
    private MemorySegment target(int number, long bytes) {
      boolean onDevice = staged[(int) (number % SLOTS)];
      return slot(onDevice ? target.received : Pair.segment(to), number, bytes);
    }

    boolean isOver() {
      return sends.isEmpty() && receives.isEmpty();
    }

    void start(Random random, long now) {
      int number = started;
      long room = random.nextInt(4) == 0 ? 1 + random.nextInt(64) : 1 + random.nextLong(MOST_BYTES);
      long bytes = random.nextInt(3) == 0 ? random.nextLong(room + 1) : room;
      boolean fromDevice = stages && random.nextInt(4) == 0;
      over[(int) (number % SLOTS)] = false;
      staged[(int) (number % SLOTS)] = stages && random.nextInt(4) == 0;
      MemorySegment memory = source(number, fromDevice, bytes);
      Pair.fill(memory, number);
      target(number, MOST_BYTES).fill((byte) 0);
      boolean receivesFirst = random.nextBoolean();
      long receive = receivesFirst ? receive(number, room) : 0;
      long send =
          fromDevice
              ? pair.sends.sender().sendStaged(source.space, memory.address(), bytes, 7)
              : pair.sends.sender().send(memory.address(), bytes, 7, from);
      assertTrue(send > 0, () -> pair + ": send " + send);
      long received = receivesFirst ? receive : receive(number, room);
      receives.add(new Message(number, bytes, received, fromDevice));
      sends.add(new Message(number, bytes, send, fromDevice));
      started++;
      lastNs = receives.size() == 1 ? now : lastNs;
    }

    private long receive(int number, long room) {
      long address = target(number, room).address();
      long id =
          staged[(int) (number % SLOTS)]
              ? pair.receives.receiver().receiveStaged(target.space, address, room, 7)
              : pair.receive(address, room, 7, to);
      assertTrue(id > 0, () -> pair + ": receive " + id);
      return id;
    }

    void test(long now) {
      if (receives.isEmpty() && sends.isEmpty()) {
        lastNs = now;
      }
      assertTrue(now - lastNs < LONGEST_WAIT, () -> pair + ": nothing is over any more: " + this);
      while (!receives.isEmpty() && isDone(receives.getFirst(), true)) {
        Message message = receives.removeFirst();
        if (failed) {
          continue;
        }
        MemorySegment slot = target(message.number, MOST_BYTES);
        MemorySegment sent = source(message.number, message.onDevice, message.bytes);
        assertEquals(
            -1,
            sent.mismatch(slot.asSlice(0, message.bytes)),
            () -> pair + ": message " + message.number);
        slot.fill(OVER);
        over[(int) (message.number % SLOTS)] = true;
        lastNs = now;
      }
      while (!sends.isEmpty() && isDone(sends.getFirst(), false)) {
        sends.removeFirst();
        lastNs = now;
      }
    }

    private boolean isDone(Message message, boolean receive) {
      long result = (receive ? pair.receives : pair.sends).test(message.id);
      failed |= mayFail && FailureCause.isFailure(result);
      if (failed && result != Result.IN_PROGRESS) {
        return true;
      }
      assertTrue(
          result == message.bytes || result == Result.IN_PROGRESS,
          () ->
              "%s: %s of message %d says %d: %s"
                  .formatted(
                      pair,
                      receive ? "receive" : "send",
                      message.number,
                      result,
                      (receive ? pair.receives : pair.sends).failure(message.id)));
      return result != Result.IN_PROGRESS;
    }

    boolean mayStart() {
      return !failed && receives.size() < AT_ONCE && sends.size() < AT_ONCE;
    }

    /** Nothing landed in memory whose receives were over. */
    void checkPoison() {
      for (int slot = 0; slot < SLOTS; slot++) {
        if (over[slot]) {
          MemorySegment memory = target(slot, MOST_BYTES);
          for (long at = 0; at < MOST_BYTES; at++) {
            long where = at;
            int which = slot;
            assertEquals(
                OVER,
                memory.get(ValueLayout.JAVA_BYTE, at),
                () -> "%s: slot %d, byte %d landed late".formatted(pair, which, where));
          }
        }
      }
    }

    @Override
    public String toString() {
      return "%d started, receives %s, sends %s".formatted(started, receives, sends);
    }
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
    final List<Flow> flows;
    int lost;
    int faults;
    long nextAt;

    Run(Profile profile, long seed, boolean deaths) {
      this.deaths = deaths;
      random = new Random(seed);
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
      boolean stages = random.nextBoolean();
      boolean mayFail = deaths || (stages && !profile.equals(Profile.TCP));
      leftDevice = DeviceMemory.of(simulation, 0, left);
      rightDevice = DeviceMemory.of(simulation, 1, right);
      Pair there = Pair.of(simulation, left, right, line);
      Pair back = Pair.of(simulation, right, left, line + ", back");
      flows =
          List.of(
              new Flow(there, mayFail, stages, leftDevice, rightDevice),
              new Flow(back, mayFail, stages, rightDevice, leftDevice));
    }

    private Node node(Profile profile, int index, EagerGrant eager) {
      return new Node(
          simulation, profile, index, rails, 20 * SECOND, 15 * SECOND, MOST_BYTES, eager);
    }

    void run() {
      long end = simulation.nanoTime() + 1_000 * SECOND;
      long faultAt = simulation.nanoTime() + random.nextLong(SECOND / 100);
      while (faults < FAULTS
          || flows.getFirst().started < MESSAGES
          || !flows.stream().allMatch(Flow::isOver)) {
        long now = simulation.nanoTime();
        assertTrue(now < end, () -> flows.getFirst().pair + ": takes too long");
        if (now >= faultAt) {
          fault();
          faultAt = now + random.nextLong(random.nextBoolean() ? SECOND / 100 : 8 * SECOND);
        }
        for (Flow flow : flows) {
          boolean more = faults < FAULTS || flow.started < MESSAGES;
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
      for (Flow flow : flows) {
        for (int rail = 0; rail < rails; rail++) {
          lost += flow.pair.sends.sink().rail(rail).cause().isPresent() ? 1 : 0;
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
      flows.forEach(flow -> flow.pair.closeConnectionsOnly());
      flows.forEach(flow -> flow.pair.releaseLeases());
      leftDevice.close();
      rightDevice.close();
      left.host.device.settle();
      right.host.device.settle();
      left.abort();
      right.abort();
      simulation.close();
      flows.forEach(flow -> flow.pair.arena.close());
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
