package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
import org.jofi.rdma.engine.Sender;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;

/** Two simulated hosts with a connection from the first to the second, and memory on each. */
final class Linked {
  static final long BYTES = 8192;
  private static final int ROUNDS = 200_000;

  final Simulation simulation;
  private final Pair pair;
  final Node left;
  final Node right;
  final SendConnection sending;
  final ReceiveConnection receiving;
  final MemorySegment source;
  final MemorySegment target;
  final DataRegistration from;
  final DataRegistration to;

  Linked(Simulation simulation, Arena arena, Node left, Node right) {
    this(simulation, arena, left, right, BYTES);
  }

  /** With so many bytes of memory on each. */
  Linked(Simulation simulation, Arena arena, Node left, Node right, long bytes) {
    this.simulation = simulation;
    this.left = left;
    this.right = right;
    pair = Pair.of(simulation, left, right, "seed " + simulation.seed());
    sending = pair.sends;
    receiving = pair.receives;
    source = arena.allocate(bytes, 64);
    target = arena.allocate(bytes, 64);
    from = left.register(BufferRange.host(source).withoutScope());
    to = right.register(BufferRange.host(target).withoutScope());
  }

  /** Two hosts of that profile with so many rails each, and a connection. */
  static Linked of(Simulation simulation, Arena arena, Profile profile, int rails) {
    return new Linked(
        simulation,
        arena,
        new Node(simulation, profile, 0, rails),
        new Node(simulation, profile, 1, rails));
  }

  /** Closes both sides, and nothing else. */
  void finishConnections() {
    pair.closeConnections();
  }

  /** Closes both sides, whatever else the nodes have. */
  void finishConnectionsOnly() {
    pair.closeConnectionsOnly();
  }

  /** Closes all, with those leases, and finds nothing left. */
  void finish(DataRegistration... leases) {
    pair.closeConnections();
    for (DataRegistration lease : leases) {
      lease.release();
    }
    left.close();
    right.close();
    assertEquals(List.of(), simulation.openObjects());
  }

  void await(String what, BooleanSupplier done, Node... nodes) {
    await(simulation, what, done, nodes);
  }

  static void await(Simulation simulation, String what, BooleanSupplier done, Node... nodes) {
    for (int round = 0; !done.getAsBoolean(); round++) {
      assertTrue(
          round < ROUNDS,
          () -> "%s, seed %d: %s".formatted(what, simulation.seed(), simulation.describe()));
      int events = 0;
      for (Node node : nodes) {
        events += node.connections.progress();
        // As whoever gives the endpoint's lock back.
        node.host.device.settle();
      }
      if (events == 0) {
        simulation.idle();
      }
    }
  }

  /** Lets time pass, with both hosts polling. */
  void pass(long nanos, Node... nodes) {
    long end = simulation.nanoTime() + nanos;
    await("waiting", () -> simulation.nanoTime() >= end, nodes);
  }

  long receive(long bytes) {
    return receive(target.address(), bytes, to);
  }

  /** Receives into memory of the receiver's. */
  long receive(long address, long bytes, DataRegistration memory) {
    long id = pair.receive(address, bytes, 7, memory);
    assertTrue(id > 0, "posting succeeds");
    return id;
  }

  /** Sends, and awaits the receive. */
  long send(long bytes) {
    long before = started();
    long id = queue(bytes);
    await("matching", () -> started() > before || sending.failure() != null, left, right);
    return id;
  }

  /** Messages that have their receive, or left. */
  long started() {
    return ((Sender) sending.sender).started();
  }

  /** Sends, whether the receive is there or not. */
  long queue(long bytes) {
    long id = Posting.send(sending.sender, source.address(), bytes, 7, from);
    assertTrue(id > 0, "posting succeeds");
    return id;
  }

  /** What a request comes to, and when, in nanoseconds from now. */
  long[] outcome(Connection connection, long request, Node... nodes) {
    long start = simulation.nanoTime();
    return new long[] {pair.outcome(connection, request, nodes), simulation.nanoTime() - start};
  }
}
