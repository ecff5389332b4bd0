package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jofi.allocation.Allocation;
import org.jofi.rdma.communicator.SimulatedHosts.Pair;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Comm;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Poller;
import org.jofi.transport.ReceiveGroup;
import org.jofi.transport.RecvComm;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;
import org.jofi.transport.Use;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PollerTest {
  private static final int TAG = 4;

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  /** What pollers of both hosts told of. */
  private static final class Told implements Poller.Completions {
    final Map<Comm, Map<Long, Long>> results = new HashMap<>();
    int count;

    @Override
    public void completed(Comm comm, long request, long cookie, long result) {
      Long before = results.computeIfAbsent(comm, unknown -> new HashMap<>()).put(request, result);
      assertEquals(null, before, () -> "0x%x of %s is told twice".formatted(request, comm));
      assertEquals(Result.STALE_REQUEST, comm.test(request));
      count++;
    }
  }

  /** Whatever is posted, in whatever order, each request is told once, with its result. */
  @ParameterizedTest
  @MethodSource("profiles")
  void everyRequestOfManyCommunicatorsIsToldOnce(Profile profile) {
    for (int seed = 0; seed < 5; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      try (SimulatedHosts hosts = new SimulatedHosts(profile, seed, 2);
          Poller here = hosts.device(0).openPoller();
          Poller there = hosts.device(1).openPoller()) {
        Told told = new Told();
        MemorySegment from = hosts.memory(4000, seed);
        MemorySegment to = hosts.memory(4000, 0);
        Map<Comm, Map<Long, Long>> expected = new HashMap<>();
        for (int i = 0; i < 5; i++) {
          Pair pair = hosts.connect();
          here.add(pair.send());
          there.add(pair.receive());
          RemoteMemory window = pair.receive().register(to, Use.PEER_WRITES).remote();
          for (int message = 0; message < 40; message++) {
            long bytes = random.nextLong(4000);
            long sent = pair.send().isend(from, 0, bytes, TAG);
            expected.computeIfAbsent(pair.send(), unknown -> new HashMap<>()).put(sent, bytes);
            long received = pair.receive().irecv(to, TAG);
            expected
                .computeIfAbsent(pair.receive(), unknown -> new HashMap<>())
                .put(received, bytes);
            if (message % 8 == 0) {
              long written = pair.send().iwrite(from, 0, 100, window, 50);
              expected.get(pair.send()).put(written, 100L);
            }
            if (random.nextInt(4) == 0) {
              here.poll(told, 1 + random.nextInt(9));
              there.poll(told, 1 + random.nextInt(9));
            }
          }
        }
        int all = 5 * 85;
        hosts.await(
            "all of them",
            () -> {
              here.poll(told, 1 + random.nextInt(30));
              there.poll(told, 1 + random.nextInt(30));
              return told.count == all;
            });
        assertEquals(expected, told.results);
        assertEquals(0, here.poll(told, 100) + there.poll(told, 100));
      }
    }
  }

  @Test
  void whatIsTestedIsNotToldAndWhatIsToldIsNotTested() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 1, 1);
        Poller poller = hosts.device(1).openPoller()) {
      Pair pair = hosts.connect();
      MemorySegment memory = hosts.memory(100, 1);
      long before = pair.receive().irecv(memory, 0, 10, TAG);
      hosts.await(pair.send(), pair.send().isend(memory, 0, 10, TAG));
      poller.add(pair.receive());
      long tested = pair.receive().irecv(memory, 0, 20, TAG);
      long polled = pair.receive().irecv(memory, 0, 30, TAG);
      hosts.await(pair.send(), pair.send().isend(memory, 0, 20, TAG));
      hosts.await(pair.send(), pair.send().isend(memory, 0, 30, TAG));
      assertEquals(20, hosts.await(pair.receive(), tested));
      Told told = new Told();
      hosts.await(
          "the others",
          () -> {
            poller.poll(told, 10);
            return told.count == 2;
          });
      assertEquals(Map.of(before, 10L, polled, 30L), told.results.get(pair.receive()));
      poller.remove(pair.receive());
      poller.remove(pair.receive());
      long alone = pair.receive().irecv(memory, 0, 10, TAG);
      hosts.await(pair.send(), pair.send().isend(memory, 0, 10, TAG));
      assertEquals(0, poller.poll(told, 10));
      assertEquals(10, hosts.await(pair.receive(), alone));
    }
  }

  /** A slot that is used again has no cookie of the request before. */
  @Test
  void aRequestsCookieComesWithItsEnd() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 8, 1);
        Poller poller = hosts.device(1).openPoller()) {
      Pair pair = hosts.connect();
      RecvComm receiver = pair.receive();
      poller.add(receiver);
      MemorySegment memory = hosts.memory(100, 1);
      assertEquals(
          Result.TRY_AGAIN, receiver.withCookie(Result.TRY_AGAIN, 5), "what is no request");
      Map<Long, Long> cookies = new HashMap<>();
      Map<Long, Long> told = new HashMap<>();
      for (int i = 0; i < 60; i++) {
        long request = receiver.irecv(memory, TAG);
        long cookie = i % 3 == 0 ? 0 : -7_000_000_000L * i;
        assertEquals(
            request, cookie == 0 ? request : receiver.withCookie(request, cookie), "unchanged");
        cookies.put(request, cookie);
        if (i % 7 == 6) {
          for (int sent = told.size(); sent <= i; sent++) {
            hosts.await(pair.send(), pair.send().isend(memory, 0, 10, TAG));
          }
          int all = i + 1;
          hosts.await(
              "their ends",
              () -> {
                poller.poll((comm, over, with, result) -> told.put(over, with), 100);
                return told.size() == all;
              });
        }
      }
      cookies.keySet().retainAll(told.keySet());
      assertEquals(56, told.size());
      assertEquals(cookies, told);
    }
  }

  @Test
  void aGroupsLengthsAreKnownUntilItsSlotIsUsedAgain() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.CXI, 2, 2);
        Poller poller = hosts.device(1).openPoller()) {
      Pair pair = hosts.connect();
      poller.add(pair.receive());
      MemorySegment memory = hosts.memory(1000, 1);
      long group =
          pair.receive().irecv(new ReceiveGroup().add(memory, 0, 500, 1).add(memory, 500, 500, 2));
      assertEquals(0, pair.receive().lengths(group, new long[2]));
      hosts.await(pair.send(), pair.send().isend(memory, 0, 77, 2));
      hosts.await(pair.send(), pair.send().isend(memory, 0, 33, 1));
      Told told = new Told();
      hosts.await("the group", () -> poller.poll(told, 1) == 1);
      assertEquals(Map.of(group, 110L), told.results.get(pair.receive()));
      long[] lengths = new long[2];
      assertEquals(2, pair.receive().lengths(group, lengths));
      assertArrayEquals(new long[] {33, 77}, lengths);
      assertThrows(
          IllegalArgumentException.class, () -> pair.receive().lengths(group, new long[1]));
      pair.receive().irecv(memory, 9);
      assertEquals(0, pair.receive().lengths(group, lengths));
    }
  }

  /** What a close fails is told of; then the communicator is no longer the poller's. */
  @ParameterizedTest
  @MethodSource("profiles")
  void theRequestsOfAClosedCommunicatorAreTold(Profile profile) {
    try (SimulatedHosts hosts = new SimulatedHosts(profile, 3, 1);
        Poller poller = hosts.device(1).openPoller()) {
      Pair closing = hosts.connect();
      Pair staying = hosts.connect();
      poller.add(closing.receive());
      poller.add(staying.receive());
      MemorySegment memory = hosts.memory(100, 1);
      Set<Long> open = new HashSet<>();
      for (int i = 0; i < 3; i++) {
        open.add(closing.receive().irecv(memory, TAG));
      }
      closing.receive().close();
      Told told = new Told();
      assertEquals(3, poller.poll(told, 10));
      assertEquals(open, told.results.get(closing.receive()).keySet());
      assertEquals(
          Set.of(FailureCause.CLOSED.code()),
          Set.copyOf(told.results.get(closing.receive()).values()));
      long received = staying.receive().irecv(memory, TAG);
      hosts.await(staying.send(), staying.send().isend(memory, TAG));
      hosts.await("a message", () -> poller.poll(told, 10) == 1);
      assertEquals(Map.of(received, 100L), told.results.get(staying.receive()));
    }
  }

  @Test
  void aCallThatThrowsLosesNothing() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 4, 1);
        Poller poller = hosts.device(1).openPoller()) {
      Pair pair = hosts.connect();
      poller.add(pair.receive());
      MemorySegment memory = hosts.memory(100, 1);
      for (int i = 0; i < 5; i++) {
        pair.receive().irecv(memory, TAG);
        hosts.await(pair.send(), pair.send().isend(memory, TAG));
      }
      List<Long> told = new ArrayList<>();
      int[] calls = {0};
      hosts.await(
          "five",
          () -> {
            try {
              poller.poll(
                  (comm, request, cookie, result) -> {
                    told.add(request);
                    if (calls[0]++ % 2 == 0) {
                      throw new IllegalStateException("not now");
                    }
                  },
                  10);
            } catch (IllegalStateException thrown) {
              assertEquals("not now", thrown.getMessage());
            }
            return told.size() == 5;
          });
      assertEquals(5, Set.copyOf(told).size());
      // A call may post, and the next poll tells of it.
      pair.receive().irecv(memory, TAG);
      hosts.await(pair.send(), pair.send().isend(memory, TAG));
      long[] more = {0};
      hosts.await(
          "one",
          () ->
              poller.poll(
                      (comm, request, cookie, result) ->
                          more[0] = pair.receive().irecv(memory, TAG),
                      10)
                  == 1);
      hosts.await(pair.send(), pair.send().isend(memory, TAG));
      hosts.await(
          "the next",
          () ->
              poller.poll((comm, request, cookie, result) -> assertEquals(more[0], request), 10)
                  == 1);
    }
  }

  /** Segments are registered by use, and all that is over is polled. */
  @Test
  void messagesFromSegmentsAndPollsAllocateNothing() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.CXI, 6, 1);
        Poller here = hosts.device(0).openPoller();
        Poller there = hosts.device(1).openPoller()) {
      Pair pair = hosts.connect();
      here.add(pair.send());
      there.add(pair.receive());
      MemorySegment from = hosts.memory(100_000, 1);
      MemorySegment to = hosts.memory(100_000, 0);
      long[] over = {0};
      Poller.Completions count =
          (comm, request, cookie, result) -> over[0] += result == 5000 ? 1 : -100;
      Allocation.assertNone(
          () -> {
            over[0] = 0;
            // Few, since now and then the simulation allocates when a fault of it happens.
            for (int i = 0; i < 2; i++) {
              for (int message = 0; message < 8; message++) {
                pair.receive().irecv(to, 5000L * message, 5000, TAG);
                pair.send().isend(from, 5000L * message, 5000, TAG);
              }
              while (over[0] != 16L * (i + 1)) {
                if (here.poll(count, 64) + there.poll(count, 64) == 0) {
                  hosts.simulation.idle();
                }
              }
            }
          });
    }
  }

  /** Calls that post take slots of requests that are over; what is not told yet keeps its own. */
  @Test
  void whatIsFoundTogetherStaysKnownUntilItIsTold() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 7, 1);
        Poller poller = hosts.device(1).openPoller()) {
      Pair pair = hosts.connect();
      poller.add(pair.receive());
      MemorySegment memory = hosts.memory(1000, 1);
      ReceiveGroup both = new ReceiveGroup();
      List<Long> groups = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        both.clear();
        both.add(memory, 0, 500, 2 * i).add(memory, 500, 500, 2 * i + 1);
        groups.add(pair.receive().irecv(both));
      }
      for (int tag = 0; tag < 8; tag++) {
        hosts.await(pair.send(), pair.send().isend(memory, 0, 100 + tag, tag));
      }
      for (int i = 0; i < 100; i++) {
        hosts.tend();
        hosts.simulation.idle();
      }
      List<Long> told = new ArrayList<>();
      int count =
          poller.poll(
              (comm, request, cookie, result) -> {
                long[] lengths = new long[2];
                int group = groups.indexOf(request);
                assertEquals(2, pair.receive().lengths(request, lengths));
                assertArrayEquals(new long[] {100 + 2 * group, 101 + 2 * group}, lengths);
                told.add(request);
                for (int more = 0; more < 3; more++) {
                  pair.receive().irecv(memory, TAG + 100);
                }
                if (group == 1) {
                  // Who is tested is not told of.
                  assertEquals(205 + 4, comm.test(groups.get(2)));
                }
                assertThrows(IllegalStateException.class, () -> poller.poll((c, r, k, s) -> {}, 1));
              },
              Integer.MAX_VALUE);
      assertEquals(3, count);
      assertEquals(List.of(groups.get(0), groups.get(1), groups.get(3)), told);
    }
  }

  @Test
  void whatWasFoundAndNotToldCanBeTestedWhenThePollerIsGone() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 8, 1)) {
      Pair pair = hosts.connect();
      MemorySegment memory = hosts.memory(100, 1);
      List<Long> receives = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        receives.add(pair.receive().irecv(memory, TAG));
        hosts.await(pair.send(), pair.send().isend(memory, TAG));
      }
      try (Poller poller = hosts.device(1).openPoller()) {
        poller.add(pair.receive());
        hosts.await("one", () -> poller.poll((c, r, k, s) -> {}, 1) == 1);
      }
      assertEquals(Result.STALE_REQUEST, pair.receive().test(receives.get(0)));
      assertEquals(100, hosts.await(pair.receive(), receives.get(1)));
      assertEquals(100, hosts.await(pair.receive(), receives.get(2)));
    }
  }

  @Test
  @SuppressWarnings("try") // It is closed twice.
  void wrongUsesAreRefused() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 5, 1);
        Poller poller = hosts.device(0).openPoller();
        Poller other = hosts.device(0).openPoller()) {
      Pair pair = hosts.connect();
      assertThrows(IllegalArgumentException.class, () -> poller.add(pair.receive()));
      poller.add(pair.send());
      assertThrows(IllegalArgumentException.class, () -> poller.add(pair.send()));
      IllegalArgumentException taken =
          assertThrows(IllegalArgumentException.class, () -> other.add(pair.send()));
      assertTrue(taken.getMessage().contains("another poller"), taken::getMessage);
      assertThrows(IllegalArgumentException.class, () -> poller.poll((c, r, k, s) -> {}, 0));
      poller.close();
      other.add(pair.send());
      assertFalse(other.poll((c, r, k, s) -> {}, 1) > 0);
    }
  }
}
