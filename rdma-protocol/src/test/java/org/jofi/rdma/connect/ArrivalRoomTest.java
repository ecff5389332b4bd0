package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Result;
import org.junit.jupiter.api.Test;

/** Many connections share a completion queue, which overruns if it is full: P8. */
class ArrivalRoomTest {
  private static final int CONNECTIONS = 48;
  private static final int GROUPS = 32;

  /** The receiver announces all that it has, and then does not poll for long. */
  @Test
  void aReceiverThatDoesNotPollOverrunsNoQueue() {
    try (Simulation simulation =
            Simulation.of(Profile.EFA).faults(FaultPlan.none().with(Fault.CQ_OVERRUN)).open();
        Arena arena = Arena.ofShared()) {
      List<Linked> all = connections(simulation, arena, CONNECTIONS);
      Node left = all.getFirst().left;
      Node right = all.getFirst().right;
      List<List<Long>> receives = new ArrayList<>();
      List<List<Long>> sends = new ArrayList<>();
      for (Linked linked : all) {
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < GROUPS; i++) {
          ids.add(group(linked));
        }
        receives.add(ids);
        sends.add(new ArrayList<>());
      }
      int rounds = 0;
      for (boolean waits = true; waits; ) {
        long end = simulation.nanoTime() + (rounds == 0 ? 50_000_000 : 2_000_000);
        Linked.await(
            simulation,
            "sending",
            () -> {
              for (int i = 0; i < all.size(); i++) {
                send(all.get(i), sends.get(i));
              }
              return simulation.nanoTime() > end;
            },
            left);
        for (int i = 0; i < 50; i++) {
          right.connections.progress();
        }
        waits = false;
        for (int i = 0; i < all.size(); i++) {
          Linked linked = all.get(i);
          receives.get(i).removeIf(id -> isOver(linked.receiving.test(id)));
          waits |= !receives.get(i).isEmpty();
        }
        assertNull(right.host.endpoint.rails.brokenBy());
        assertTrue(++rounds < 2_000, simulation::describe);
      }
      assertEquals(0, right.host.endpoint.context.budget().announced());
      finish(all);
    }
  }

  /** Those of other connections wait for their peers, which never send. */
  @Test
  void aConnectionReceivesThoughOthersHaveAnnouncedAllThatThereIsRoomFor() {
    try (Simulation simulation = Simulation.of(Profile.EFA).open();
        Arena arena = Arena.ofShared()) {
      List<Linked> all = connections(simulation, arena, 8);
      for (Linked linked : all.subList(0, 7)) {
        for (int i = 0; i < GROUPS; i++) {
          group(linked);
        }
      }
      Linked last = all.getLast();
      for (int i = 0; i < 100; i++) {
        long receive = last.receive(64);
        last.send(64);
        assertEquals(64, last.outcome(last.receiving, receive, last.left, last.right)[0]);
      }
      finish(all);
    }
  }

  private static boolean isOver(long result) {
    if (result == Result.IN_PROGRESS) {
      return false;
    }
    assertEquals(0, result);
    return true;
  }

  private static List<Linked> connections(Simulation simulation, Arena arena, int count) {
    Node left = new Node(simulation, Profile.EFA, 0, 1);
    Node right = new Node(simulation, Profile.EFA, 1, 1);
    List<Linked> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(new Linked(simulation, arena, left, right));
    }
    return all;
  }

  private static void finish(List<Linked> all) {
    Node left = all.getFirst().left;
    Node right = all.getFirst().right;
    for (Linked linked : all) {
      left.connections.close(linked.sending);
      right.connections.close(linked.receiving);
    }
    all.getFirst()
        .await(
            "closing", () -> left.connections.live() + right.connections.live() == 0, left, right);
    assertEquals(0, right.host.endpoint.context.budget().announced());
    for (Linked linked : all) {
      linked.from.release();
      linked.to.release();
    }
    left.close();
    right.close();
    assertEquals(List.of(), all.getFirst().simulation.openObjects());
  }

  private static long group(Linked linked) {
    int count = 8;
    long[] addresses = new long[count];
    DataRegistration[] memory = new DataRegistration[count];
    for (int i = 0; i < count; i++) {
      addresses[i] = linked.target.address();
      memory[i] = linked.to;
    }
    long id =
        Posting.receive(
            linked.receiving.receiver, count, addresses, new long[count], new int[count], memory);
    assertTrue(id > 0);
    return id;
  }

  /** Sends one message if there is room for a request, and forgets what is over. */
  private static void send(Linked linked, List<Long> ids) {
    ids.removeIf(id -> linked.sending.test(id) != Result.IN_PROGRESS);
    long id = Posting.send(linked.sending.sender, linked.source.address(), 0, 0, linked.from);
    if (id != Result.TRY_AGAIN) {
      ids.add(id);
    }
  }
}
