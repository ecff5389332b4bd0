package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.rdma.communicator.SimulatedHosts.Pair;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Comm;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.Tuning;
import org.jofi.transport.Use;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What callers see of messages that leave before their receives are announced. */
class ShortMessagesTest {
  private static final int TAG = 4;
  private static final int SHORT = 100;
  private static final int LONG = 100_000;

  /** Those where such messages leave: NICs that take device memory have none. */
  static Stream<Profile> profiles() {
    return Profile.ALL.stream()
        .filter(
            profile -> {
              try (SimulatedHosts hosts = new SimulatedHosts(profile, 1, 1)) {
                return eagerBytes(hosts, 0) > 0;
              }
            });
  }

  private static int eagerBytes(SimulatedHosts hosts, int host) {
    return hosts.device(host).properties().limits().eagerBytes();
  }

  /** The receive is withheld, since a short message may fill it; a long one has to ask for it. */
  @ParameterizedTest
  @MethodSource("profiles")
  void aLongMessageFailsBothSidesOfAShortReceive(Profile profile) {
    for (boolean sendFirst : List.of(true, false)) {
      try (SimulatedHosts hosts = new SimulatedHosts(profile, 1, 2)) {
        Pair pair = hosts.connect();
        MemorySegment to = hosts.memory(SHORT, 2);
        byte[] before = to.toArray(ValueLayout.JAVA_BYTE);
        Registration source = pair.send().register(hosts.memory(LONG, 1), Use.SEND);
        Registration target = pair.receive().register(to, Use.RECEIVE);
        long send = sendFirst ? pair.send().isend(source, TAG) : 0;
        long receive = pair.receive().irecv(target, TAG);
        send = sendFirst ? send : pair.send().isend(source, TAG);
        assertTooLong(LONG, pair.send(), hosts.await(pair.send(), send), send);
        assertEquals(FailureCause.PEER_ABORTED.code(), hosts.await(pair.receive(), receive));
        assertSaysWhy(pair.receive(), receive);
        assertArrayEquals(before, to.toArray(ValueLayout.JAVA_BYTE));
        pair.send().close();
        pair.receive().close();
        source.close();
        target.close();
      }
    }
  }

  /** It left already, and its sender learns of it later. */
  @ParameterizedTest
  @MethodSource("profiles")
  void aMessageThatLeftFailsBothSidesOfAShorterReceive(Profile profile) {
    for (boolean sendFirst : List.of(true, false)) {
      try (SimulatedHosts hosts = new SimulatedHosts(profile, 1, 2)) {
        Pair pair = hosts.connect();
        MemorySegment to = hosts.memory(SHORT, 2);
        byte[] before = to.toArray(ValueLayout.JAVA_BYTE);
        Registration source = pair.send().register(hosts.memory(SHORT + 1, 1), Use.SEND);
        Registration target = pair.receive().register(to, Use.RECEIVE);
        if (sendFirst) {
          assertEquals(SHORT + 1, hosts.await(pair.send(), pair.send().isend(source, TAG)));
        }
        long receive = pair.receive().irecv(target, TAG);
        if (!sendFirst) {
          pair.send().isend(source, TAG);
        }
        assertTooLong(SHORT + 1, pair.receive(), hosts.await(pair.receive(), receive), receive);
        hosts.await("the sender to learn of it", () -> pair.send().failure().isPresent());
        long later = pair.send().isend(source, TAG);
        assertEquals(FailureCause.PEER_ABORTED.code(), hosts.await(pair.send(), later));
        assertSaysWhy(pair.send(), later);
        assertArrayEquals(before, to.toArray(ValueLayout.JAVA_BYTE));
        pair.send().close();
        pair.receive().close();
        source.close();
        target.close();
      }
    }
  }

  /** With both lengths. */
  private static void assertTooLong(int bytes, Comm comm, long result, long request) {
    assertEquals(FailureCause.TRUNCATED.code(), result);
    String why = comm.failure(request).orElseThrow().toString();
    assertTrue(
        why.contains("a message of %d bytes, and a receive of %d".formatted(bytes, SHORT)), why);
  }

  private static void assertSaysWhy(Comm comm, long request) {
    String why = comm.failure(request).orElseThrow().toString();
    assertTrue(why.contains(FailureCause.TRUNCATED.words()), why);
  }

  /** The result of both. */
  private static long both(SimulatedHosts hosts, Pair pair, long send, long receive) {
    long[] results = {Result.IN_PROGRESS, Result.IN_PROGRESS};
    hosts.await(
        "both ends",
        () -> {
          test(results, 0, pair.send(), send);
          test(results, 1, pair.receive(), receive);
          return results[0] != Result.IN_PROGRESS && results[1] != Result.IN_PROGRESS;
        });
    assertEquals(results[0], results[1]);
    return results[0];
  }

  private static void test(long[] results, int which, Comm comm, long request) {
    if (results[which] == Result.IN_PROGRESS) {
      results[which] = comm.test(request);
    }
  }

  /** What one may send and the other can store differ: the lower limit counts. */
  @ParameterizedTest
  @MethodSource("profiles")
  void limitsMayDiffer(Profile profile) {
    for (List<Integer> limits : List.of(List.of(300, 60_000), List.of(60_000, 300))) {
      Iterator<Integer> next = limits.iterator();
      try (SimulatedHosts hosts =
          new SimulatedHosts(
              profile,
              2,
              2,
              options -> options.tuning(Tuning.DEFAULT.withEagerBytes(next.next())))) {
        assertEquals(limits, List.of(eagerBytes(hosts, 0), eagerBytes(hosts, 1)));
        Pair pair = hosts.connect();
        List<MemorySegment> sent = new ArrayList<>();
        List<MemorySegment> received = new ArrayList<>();
        List<Long> sends = new ArrayList<>();
        List<Long> receives = new ArrayList<>();
        List<Registration> ours = new ArrayList<>();
        List<Registration> theirs = new ArrayList<>();
        for (int bytes : List.of(8, 300, 301, 9_000, 60_000, 60_001, 16)) {
          MemorySegment from = hosts.memory(bytes, bytes);
          MemorySegment to = hosts.memory(bytes, bytes + 1);
          Registration source = pair.send().register(from, Use.SEND);
          Registration target = pair.receive().register(to, Use.RECEIVE);
          sends.add(pair.send().isend(source, TAG));
          sent.add(from);
          received.add(to);
          ours.add(source);
          theirs.add(target);
        }
        theirs.forEach(target -> receives.add(pair.receive().irecv(target, TAG)));
        for (int i = 0; i < sends.size(); i++) {
          assertEquals(sent.get(i).byteSize(), both(hosts, pair, sends.get(i), receives.get(i)));
          assertEquals(-1, sent.get(i).mismatch(received.get(i)));
        }
        ours.forEach(Registration::close);
        theirs.forEach(Registration::close);
      }
    }
  }

  /** They are received after the sender closed, and what is posted beyond them fails. */
  @ParameterizedTest
  @MethodSource("profiles")
  void whatAClosedPeerLeftIsReceived(Profile profile) {
    try (SimulatedHosts hosts = new SimulatedHosts(profile, 3, 2)) {
      Pair pair = hosts.connect();
      MemorySegment from = hosts.memory(SHORT, 1);
      MemorySegment to = hosts.memory(SHORT, 2);
      Registration source = pair.send().register(from, Use.SEND);
      Registration target = pair.receive().register(to, Use.RECEIVE);
      List<Integer> tags = List.of(TAG, TAG + 1, TAG);
      for (int tag : tags) {
        assertEquals(SHORT, hosts.await(pair.send(), pair.send().isend(source, tag)));
      }
      source.close();
      pair.send().close();
      for (int tag : List.of(TAG + 1, TAG, TAG)) {
        to.fill((byte) 0);
        assertEquals(SHORT, hosts.await(pair.receive(), pair.receive().irecv(target, tag)));
        assertEquals(-1, from.mismatch(to));
      }
      long beyond = pair.receive().irecv(target, TAG);
      assertTrue(beyond > 0, () -> Result.describe(beyond));
      assertEquals(FailureCause.PEER_CLOSED.code(), hosts.await(pair.receive(), beyond));
      target.close();
    }
  }
}
