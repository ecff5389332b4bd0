package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.ConnectHandle;
import org.junit.jupiter.api.Test;

/** What a connection costs on which nothing happens. */
class IdleMemoryTest {
  private static final int FIRST = 20;

  /** With the first ones, as many as fill slabs. */
  private static final int CONNECTIONS = 7 * Mailboxes.PIECES - FIRST;

  /** Heap of both sides and of what the simulated fabric keeps of them. */
  private static final long MOST_HEAP_BYTES = 14 << 10;

  /** Mailboxes and copies of both sides. */
  private static final long MOST_NATIVE_BYTES = 32 << 10;

  @Test
  void anIdleConnectionTakesLittleMemory() {
    try (Simulation simulation = Simulation.of(Profile.EFA).open()) {
      Node left = new Node(simulation, Profile.EFA, 0, 1);
      Node right = new Node(simulation, Profile.EFA, 1, 1);
      Listener listener = right.connections.connector().listen(null);
      ConnectHandle handle = right.connections.connector().handle(listener);
      List<Connection> connections = new ArrayList<>();
      // The first ones grow what all share.
      connect(simulation, left, right, listener, handle, connections, FIRST);
      long before = used();
      connect(simulation, left, right, listener, handle, connections, CONNECTIONS);
      long each = (used() - before) / CONNECTIONS;
      assertTrue(each <= MOST_HEAP_BYTES, () -> "a connection takes " + each + " bytes of heap");
      long mailboxes =
          left.connections.connector().mailboxBytes()
              + right.connections.connector().mailboxBytes();
      assertTrue(
          mailboxes <= MOST_NATIVE_BYTES * (FIRST + CONNECTIONS),
          () -> "mailboxes take " + mailboxes + " bytes");
      for (Connection connection : connections) {
        Node node = connection instanceof SendConnection ? left : right;
        node.connections.close(connection);
      }
      Linked.await(
          simulation,
          "closing",
          () -> left.connections.live() + right.connections.live() == 0,
          left,
          right);
      left.close();
      right.close();
    }
  }

  private static void connect(
      Simulation simulation,
      Node left,
      Node right,
      Listener listener,
      ConnectHandle handle,
      List<Connection> connections,
      int count) {
    for (int i = 0; i < count; i++) {
      Attempt attempt = left.connections.connector().connect(handle);
      Linked.await(simulation, "connecting", () -> attempt.connection() != null, left, right);
      Connection send = attempt.connection();
      Connection receive = listener.accept();
      assertNotNull(send);
      assertNotNull(receive);
      connections.add(send);
      connections.add(receive);
    }
  }

  /** Heap in use that is not garbage: the least of a few looks, since others may allocate. */
  private static long used() {
    Runtime runtime = Runtime.getRuntime();
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      System.gc();
      least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
    }
    return least;
  }
}
