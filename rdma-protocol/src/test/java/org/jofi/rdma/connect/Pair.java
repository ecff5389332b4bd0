package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.NanoClock;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;

/** Two nodes with a connection from left to right, driven by one thread. */
final class Pair implements AutoCloseable {
  /** Longer than NICs stall in tests. */
  private static final long BOUND_NS = 90_000_000_000L;

  /** Virtual time stands still while there is something to do: what is done for ever has an end. */
  private static final long VIRTUAL_ROUNDS = 200_000;

  final Node left;
  final Node right;
  final SendConnection sends;
  final ReceiveConnection receives;
  final Arena arena = Arena.ofShared();
  private final NanoClock clock;
  private final Runnable pause;
  private final String line;
  private final long mostRounds;
  private final List<DataRegistration> leases = new ArrayList<>();

  Pair(Node left, Node right, NanoClock clock, Runnable pause, String line, long mostRounds) {
    this.left = left;
    this.right = right;
    this.clock = clock;
    this.pause = pause;
    this.line = line;
    this.mostRounds = mostRounds;
    Listener listener = right.connections.connector().listen(null);
    ConnectHandle handle = right.connections.connector().handle(listener);
    Attempt attempt = left.connections.connector().connect(handle);
    await("connecting", () -> attempt.connection() != null || attempt.failure() != null);
    SendConnection connection = attempt.connection();
    assertNotNull(connection, () -> line + ": " + attempt.failure());
    sends = connection;
    ReceiveConnection accepted = listener.accept();
    assertNotNull(accepted, line);
    receives = accepted;
  }

  static Pair of(Simulation simulation, Profile profile, int rails) {
    return of(
        simulation,
        new Node(simulation, profile, 0, rails),
        new Node(simulation, profile, 1, rails),
        "profile %s, seed %d, %d rail(s)".formatted(profile.name(), simulation.seed(), rails));
  }

  /** Two nodes of a simulation. */
  static Pair of(Simulation simulation, Node left, Node right, String line) {
    return new Pair(left, right, simulation::nanoTime, simulation::idle, line, VIRTUAL_ROUNDS);
  }

  /** What failures of a run are told by. */
  @Override
  public String toString() {
    return line;
  }

  Node node(Connection connection) {
    return connection == sends ? left : right;
  }

  Connection peer(Connection connection) {
    return connection == sends ? receives : sends;
  }

  int progress() {
    return left.connections.progress() + right.connections.progress();
  }

  /**
   * Drives nodes until something is so, within a bound.
   *
   * @param what is written out if it never is
   * @param driven both if there are none
   */
  void await(Object what, BooleanSupplier done, Node... driven) {
    Node[] nodes = driven.length == 0 ? new Node[] {left, right} : driven;
    long start = clock.nanoTime();
    for (long round = 0; !done.getAsBoolean(); round++) {
      assertTrue(
          round < mostRounds && clock.nanoTime() - start < BOUND_NS,
          () -> "%s: %s takes too long".formatted(line, what));
      int events = 0;
      for (Node node : nodes) {
        events += node.connections.progress();
      }
      if (events == 0) {
        pause.run();
      }
    }
  }

  /** What a request of a side comes to. */
  long outcome(Connection connection, long request, Node... driven) {
    assertTrue(request > 0, () -> "%s: posting says %d".formatted(line, request));
    long[] result = {Result.IN_PROGRESS};
    await(
        "request",
        () -> {
          result[0] = connection.test(request);
          return result[0] != Result.IN_PROGRESS;
        },
        driven);
    assertEquals(Result.STALE_REQUEST, connection.test(request), line);
    return result[0];
  }

  DataRegistration register(Connection connection, BufferRange range) {
    DataRegistration lease = node(connection).register(range);
    leases.add(lease);
    return lease;
  }

  /** Zeroed memory that a side's node reaches, whose registration ends with its last use. */
  DataRegistration memory(Connection connection, long bytes) {
    return register(connection, BufferRange.host(arena.allocate(bytes, 4096)).withoutScope());
  }

  /** Registered memory, as a peer names it. */
  static RemoteMemory remote(DataRegistration memory) {
    long[] addresses = new long[memory.rails()];
    long[] keys = new long[memory.rails()];
    for (int rail = 0; rail < memory.rails(); rail++) {
      addresses[rail] = memory.remoteAddress(rail, memory.range().address());
      keys[rail] = memory.key(rail);
    }
    return RemoteMemory.of(memory.range().lengthBytes(), addresses, keys);
  }

  long receive(long address, long bytes, int tag, DataRegistration memory) {
    return Posting.receive(
        receives.receiver,
        1,
        new long[] {address},
        new long[] {bytes},
        new int[] {tag},
        new DataRegistration[] {memory});
  }

  @SuppressWarnings("restricted")
  static MemorySegment segment(DataRegistration memory) {
    return MemorySegment.ofAddress(memory.range().address())
        .reinterpret(memory.range().lengthBytes());
  }

  /** Fills bytes that are told apart by number and place. */
  static void fill(MemorySegment memory, int number) {
    for (long at = 0; at < memory.byteSize(); at++) {
      memory.set(ValueLayout.JAVA_BYTE, at, pattern(number, at));
    }
  }

  static byte pattern(int number, long at) {
    return (byte) (number * 31L + at * 7 + (at >> 8) + 1);
  }

  void closeConnections() {
    left.connections.close(sends);
    right.connections.close(receives);
    await("closing", () -> left.connections.live() + right.connections.live() == 0);
    await("the last messages", () -> left.host.isQuiet() && right.host.isQuiet());
  }

  /** Closes this pair's two sides, whatever else the nodes have. */
  void closeConnectionsOnly() {
    left.connections.close(sends);
    right.connections.close(receives);
    await("closing", () -> sends.isReleased() && receives.isReleased());
  }

  /** Lets go of its memory, when nothing uses it any more. */
  void releaseLeases() {
    leases.forEach(DataRegistration::release);
    leases.clear();
  }

  /** Closes all, and finds nothing left. */
  void finish(Simulation simulation) {
    closeConnections();
    close();
    assertEquals(List.of(), simulation.openObjects(), line);
  }

  @Override
  public void close() {
    leases.forEach(DataRegistration::release);
    left.close();
    right.close();
    arena.close();
  }
}
