package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.MessageType;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jspecify.annotations.Nullable;

/** P10: both sides of a connection close, and neither waits for one that is gone already. */
class BothCloseProperties {
  /** A close is told again after a sixteenth of its bound. */
  private static final long AGAIN_NS = Node.BOUND_NS / 16;

  /** Round trips of the slowest profile, and idle ticks of the clock while posts are refused. */
  private static final long SOON_NS = AGAIN_NS / 2;

  /** A post is refused time and again, so a message may wait until its side is gone. */
  @Property(tries = 150)
  void nobodyWaitsIfNothingIsLost(
      @ForAll Random random,
      @ForAll @IntRange(min = 0, max = 60) int leftCloses,
      @ForAll @IntRange(min = 0, max = 60) int rightCloses) {
    FaultPlan busy = FaultPlan.none().with(Fault.EAGAIN, 0.5);
    long took = close(random, busy, null, 0, leftCloses, rightCloses);
    assertTrue(took < SOON_NS, () -> "took " + took + " ns");
  }

  @Property(tries = 150)
  void whatIsLostIsToldAgainAndAnswered(
      @ForAll Random random,
      @ForAll boolean closed,
      @ForAll @IntRange(min = 1, max = 3) int losses,
      @ForAll @IntRange(min = 0, max = 60) int leftCloses,
      @ForAll @IntRange(min = 0, max = 60) int rightCloses) {
    MessageType type = closed ? MessageType.CLOSED : MessageType.CLOSE;
    long took = close(random, FaultPlan.none(), type, losses, leftCloses, rightCloses);
    long most = 2L * losses * (AGAIN_NS + SOON_NS);
    assertTrue(took < most, () -> "took " + took + " ns");
  }

  /** Polls either side in a random order; how long both take to go, once both have closed. */
  private static long close(
      Random random,
      FaultPlan faults,
      @Nullable MessageType lost,
      int losses,
      int leftCloses,
      int rightCloses) {
    Profile profile = Profile.ALL.get(random.nextInt(Profile.ALL.size()));
    try (Simulation simulation =
            Simulation.of(profile).seed(random.nextLong()).faults(faults).open();
        Arena arena = Arena.ofShared()) {
      Linked linked = Linked.of(simulation, arena, profile, 1);
      if (lost != null) {
        new LossyArrivals(linked.left, lost, losses);
        new LossyArrivals(linked.right, lost, losses);
      }
      for (int step = 0; step <= Math.max(leftCloses, rightCloses); step++) {
        if (step == leftCloses) {
          linked.left.connections.close(linked.sending);
        }
        if (step == rightCloses) {
          linked.right.connections.close(linked.receiving);
        }
        turn(random, linked);
      }
      long start = simulation.nanoTime();
      for (int turns = 0; !linked.sending.isReleased() || !linked.receiving.isReleased(); turns++) {
        assertTrue(turns < 1_000_000, simulation::describe);
        turn(random, linked);
      }
      long took = simulation.nanoTime() - start;
      linked.finish(linked.from, linked.to);
      return took;
    }
  }

  private static void turn(Random random, Linked linked) {
    Node node = random.nextBoolean() ? linked.left : linked.right;
    if (node.connections.progress() == 0 && random.nextInt(4) == 0) {
      linked.simulation.idle();
    }
  }

  /** Who does not know all of what the connection was gets no answer and changes nothing. */
  @Example
  void onlyALateCloseOfTheConnectionIsAnswered() {
    try (Simulation simulation = Simulation.of(Profile.EFA).open();
        Arena arena = Arena.ofShared()) {
      Linked linked = Linked.of(simulation, arena, Profile.EFA, 1);
      ConnectionId sound = linked.receiving.id();
      linked.finishConnections();
      ConnectionTable connections = linked.left.connections;
      MemorySegment bytes = arena.allocate(ControlMessage.BYTES, 8);
      assertTrue(takes(connections, bytes, sound));
      ConnectionId[] forged = {
        new ConnectionId(
            sound.to(), sound.toGeneration() % 65_535 + 1, sound.from(), 1, sound.attempt()),
        new ConnectionId(
            sound.to(),
            sound.toGeneration(),
            sound.from() % 32_767 + 1,
            sound.fromGeneration(),
            sound.attempt()),
        new ConnectionId(
            sound.to(),
            sound.toGeneration(),
            sound.from(),
            sound.fromGeneration() % 65_535 + 1,
            sound.attempt()),
        new ConnectionId(
            sound.to(),
            sound.toGeneration(),
            sound.from(),
            sound.fromGeneration(),
            sound.attempt() + 1),
        new ConnectionId(
            sound.to() % 32_767 + 1,
            sound.toGeneration(),
            sound.from(),
            sound.fromGeneration(),
            sound.attempt())
      };
      int live = connections.live();
      for (ConnectionId other : forged) {
        assertFalse(takes(connections, bytes, other), other::toString);
      }
      ControlMessage.put(bytes, sound, MessageType.PING, 0, 0, null);
      assertFalse(taken(connections, bytes));
      ControlMessage.put(bytes, sound, MessageType.CLOSED, 0, 0, null);
      assertFalse(taken(connections, bytes));
      for (int i = 1; i < ClosedConnections.MOST_ANSWERS; i++) {
        assertTrue(takes(connections, bytes, sound));
        linked.pass(1_000_000, linked.left, linked.right);
      }
      assertFalse(takes(connections, bytes, sound), "it is answered without end");
      assertEquals(live, connections.live());
      linked.finish(linked.from, linked.to);
    }
  }

  @Example
  void anIdThatIsUsedAgainIsNotAnsweredFor() {
    try (Simulation simulation = Simulation.of(Profile.EFA).open();
        Arena arena = Arena.ofShared()) {
      Linked linked = Linked.of(simulation, arena, Profile.EFA, 1);
      ConnectionId sound = linked.receiving.id();
      linked.finishConnections();
      ConnectionTable connections = linked.left.connections;
      int id = connections.takeId();
      while (id != sound.to()) {
        connections.free(id);
        id = connections.takeId();
      }
      MemorySegment bytes = arena.allocate(ControlMessage.BYTES, 8);
      assertFalse(takes(connections, bytes, sound), "while it is in use");
      connections.free(id);
      assertFalse(takes(connections, bytes, sound), "after that");
      linked.finish(linked.from, linked.to);
    }
  }

  private static boolean takes(
      ConnectionTable connections, MemorySegment bytes, ConnectionId connectionId) {
    ControlMessage.put(bytes, connectionId, MessageType.CLOSE, 0, 0, null);
    return taken(connections, bytes);
  }

  private static boolean taken(ConnectionTable connections, MemorySegment bytes) {
    long before = connections.dropped();
    connections.message(bytes, ControlMessage.BYTES);
    return connections.dropped() == before;
  }
}
