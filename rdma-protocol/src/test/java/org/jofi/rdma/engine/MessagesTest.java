package org.jofi.rdma.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jofi.allocation.Allocation;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxWriter;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MessagesTest {
  private static final int SEEDS = Integer.getInteger("jofi.seeds", 100) / 10;
  private static final int IDLE_ROUNDS = 20_000;
  private static final int GROUP = 8;
  private static final int SLOTS = 2 * MailboxLayout.ENTRIES;

  private static final byte UNTOUCHED = (byte) 0xee;

  private static final EagerGrant[] EAGER = {
    EagerGrant.NONE, new EagerGrant(1, 64), new EagerGrant(8, 300), new EagerGrant(64, 1024)
  };

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void everyMessageArrivesOnceInOrderAndWhole(Profile profile) {
    for (long seed = 1; seed <= SEEDS; seed++) {
      new Run(profile, seed, 40, EAGER[(int) (seed % EAGER.length)]).run();
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void numbersWrapThreeTimes(Profile profile) {
    new Run(profile, 1_000_001, 3_300, EagerGrant.NONE).run();
    new Run(profile, 1_000_002, 3_300, new EagerGrant(64, 300)).run();
  }

  /** One run: both sides on one thread, in turns. */
  private static final class Run {
    private final String line;
    private final Profile profile;
    private final long seed;
    private final Random random;
    private final Script script;
    private final EagerGrant eager;
    private final int rails;

    private final Map<Long, Integer> receiving = new HashMap<>();
    private final Map<Long, Integer> sending = new HashMap<>();

    /** Whose sources are in use, by slot. */
    private final BitSet inFlight = new BitSet(SLOTS);

    private final long[] lengths = new long[GROUP];
    private int received;
    private int sent;

    Run(Profile profile, long seed, int groups, EagerGrant eager) {
      this.eager = eager;
      this.profile = profile;
      this.seed = seed;
      this.line = "profile %s, seed %d, %d groups".formatted(profile.name(), seed, groups);
      random = Random.from(new SplittableRandom(seed));
      rails = 1 + random.nextInt(5);
      script = new Script(random, groups);
    }

    void run() {
      try (Arena arena = Arena.ofShared();
          Simulation simulation =
              Simulation.of(profile)
                  .seed(seed)
                  .nicsPerHost(rails)
                  .faults(FaultPlan.survivable())
                  .open()) {
        boolean writesData = profile.behaviour().writeData() && random.nextInt(3) > 0;
        Exchange exchange =
            new Exchange(
                simulation,
                rails,
                random.nextBoolean() ? 1 : rails,
                writesData,
                Exchange.MAX,
                eager);
        MemorySegment source = arena.allocate((long) SLOTS * Script.MAX_BYTES, 128);
        MemorySegment target = arena.allocate((long) SLOTS * GROUP * Script.MAX_BYTES, 128);
        drive(exchange, source, target);
        assertEquals(0, exchange.receiver.dropped() + exchange.strays(), line);
        assertEquals(0, exchange.receiver.inFlight(), line);
        exchange.close();
        assertEquals(List.of(), simulation.openObjects(), line);
      }
    }

    private void drive(Exchange exchange, MemorySegment source, MemorySegment target) {
      DataRegistration from = exchange.register(exchange.left, source);
      DataRegistration to = exchange.register(exchange.right, target);
      int nextGroup = 0;
      int nextSend = 0;
      int idle = 0;
      while (received < script.groups.size() || sent < script.sends.size()) {
        int before = received + sent + nextGroup + nextSend;
        while (nextGroup < script.groups.size() && post(exchange, nextGroup, target, to)) {
          nextGroup++;
        }
        while (nextSend < script.sends.size() && send(exchange, nextSend, source, from)) {
          nextSend++;
        }
        int events = exchange.progress();
        sending.keySet().removeIf(id -> isSent(exchange, id));
        receiving.keySet().removeIf(id -> isReceived(exchange, id, target));
        if (events == 0 && before == received + sent + nextGroup + nextSend) {
          exchange.simulation.idle();
          assertTrue(++idle < IDLE_ROUNDS, () -> line + ": " + pending());
        } else {
          idle = 0;
        }
      }
    }

    private boolean post(Exchange exchange, int group, MemorySegment target, DataRegistration to) {
      List<Script.Receive> receives = script.groups.get(group);
      int count = receives.size();
      long[] addresses = new long[count];
      long[] bytes = new long[count];
      int[] tags = new int[count];
      DataRegistration[] memory = new DataRegistration[count];
      for (int place = 0; place < count; place++) {
        addresses[place] = target.address() + at(group, place);
        bytes[place] = receives.get(place).bytes();
        tags[place] = receives.get(place).tag();
        memory[place] = to;
      }
      if (exchange.receiver.inFlight() < MailboxLayout.ENTRIES && receiving.size() < SLOTS) {
        target.asSlice(at(group, 0), (long) GROUP * Script.MAX_BYTES).fill(UNTOUCHED);
      }
      long id = Posting.receive(exchange.receiver, count, addresses, bytes, tags, memory);
      if (id == Result.TRY_AGAIN) {
        return false;
      }
      assertTrue(id > 0, line);
      receiving.put(id, group);
      return true;
    }

    private static long at(int group, int place) {
      return ((long) (group % SLOTS) * GROUP + place) * Script.MAX_BYTES;
    }

    private boolean send(
        Exchange exchange, int index, MemorySegment source, DataRegistration from) {
      Script.Send send = script.sends.get(index);
      if (inFlight.get(index % SLOTS)) {
        return false;
      }
      long at = (long) (index % SLOTS) * Script.MAX_BYTES;
      for (int i = 0; i < send.bytes(); i++) {
        source.set(ValueLayout.JAVA_BYTE, at + i, pattern(index, i));
      }
      long id =
          Posting.send(exchange.sender, source.address() + at, send.bytes(), send.tag(), from);
      if (id == Result.TRY_AGAIN) {
        return false;
      }
      assertTrue(id > 0, line);
      sending.put(id, index);
      inFlight.set(index % SLOTS);
      return true;
    }

    private static byte pattern(int index, int i) {
      return (byte) (index * 31 + i * 7 + (i >> 8));
    }

    private boolean isSent(Exchange exchange, long id) {
      long result = exchange.sender.test(id);
      if (result == Result.IN_PROGRESS) {
        return false;
      }
      int index = sending.get(id);
      inFlight.clear(index % SLOTS);
      Script.Send send = script.sends.get(index);
      assertEquals(send.bytes(), result, line);
      assertEquals(Result.STALE_REQUEST, exchange.sender.test(id), line);
      sent++;
      return true;
    }

    private boolean isReceived(Exchange exchange, long id, MemorySegment target) {
      long result = exchange.receiver.test(id, lengths);
      if (result == Result.IN_PROGRESS) {
        return false;
      }
      int group = receiving.get(id);
      long total = 0;
      for (int index : script.sendsOf(group)) {
        Script.Send send = script.sends.get(index);
        assertEquals(send.bytes(), lengths[send.place()], line);
        total += send.bytes();
        verify(target, at(group, send.place()), index, send.bytes());
      }
      assertEquals(total, result, line);
      assertEquals(Result.STALE_REQUEST, exchange.receiver.test(id), line);
      received++;
      return true;
    }

    private void verify(MemorySegment target, long at, int index, int moved) {
      for (int i = 0; i < Script.MAX_BYTES; i++) {
        byte expected = i < moved ? pattern(index, i) : UNTOUCHED;
        byte found = target.get(ValueLayout.JAVA_BYTE, at + i);
        if (expected != found) {
          assertEquals(expected, found, "%s, send %d, byte %d".formatted(line, index, i));
        }
      }
    }

    private String pending() {
      List<String> text = new ArrayList<>();
      text.add("sends " + sending.values());
      text.add("receives " + receiving.values());
      return String.join(", ", text);
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aMessageAllocatesNothing(Profile profile) {
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(profile).nicsPerHost(2).open()) {
      Exchange exchange = new Exchange(simulation, 2, 2, profile.behaviour().writeData());
      MemorySegment memory = arena.allocate(8192, 128);
      DataRegistration from = exchange.register(exchange.left, memory);
      DataRegistration to = exchange.register(exchange.right, memory);
      long[] address = {memory.address() + 4096};
      long[] bytes = {4096};
      int[] tag = {3};
      DataRegistration[] registrations = {to};
      Runnable messages =
          () -> {
            for (int i = 0; i < 1000; i++) {
              long receive =
                  Posting.receive(exchange.receiver, 1, address, bytes, tag, registrations);
              long send = Result.TRY_AGAIN;
              long got = Result.IN_PROGRESS;
              long put = Result.IN_PROGRESS;
              // Every second one is short, so that its length travels as well.
              long length = (i & 1) == 0 ? 2048 : 4096;
              while (got == Result.IN_PROGRESS || put == Result.IN_PROGRESS) {
                if (send == Result.TRY_AGAIN) {
                  send = Posting.send(exchange.sender, memory.address(), length, 3, from);
                }
                if (exchange.progress() == 0) {
                  simulation.idle();
                }
                put = put == Result.IN_PROGRESS && send > 0 ? exchange.sender.test(send) : put;
                got = got == Result.IN_PROGRESS ? exchange.receiver.test(receive) : got;
              }
              if (got != length || put != length) {
                throw new IllegalStateException(got + " and " + put);
              }
            }
          };
      Allocation.assertNone(messages);
      exchange.close();
    }
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void aSendThatWaitsForItsReceiveAllocatesNothing(Profile profile) {
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(profile).nicsPerHost(2).open()) {
      Exchange exchange = new Exchange(simulation, 2, 2, profile.behaviour().writeData());
      MemorySegment memory = arena.allocate(8192, 128);
      DataRegistration from = exchange.register(exchange.left, memory);
      DataRegistration to = exchange.register(exchange.right, memory);
      long[] address = {memory.address() + 4096};
      long[] bytes = {4096};
      int[] tag = {3};
      DataRegistration[] registrations = {to};
      Runnable messages =
          () -> {
            for (int i = 0; i < 1000; i++) {
              long send = Posting.send(exchange.sender, memory.address(), 4096, 3, from);
              long unwanted = Posting.send(exchange.sender, memory.address(), 4096, 4, from);
              exchange.progress();
              long receive =
                  Posting.receive(exchange.receiver, 1, address, bytes, tag, registrations);
              boolean sent = false;
              boolean received = false;
              while (!sent || !received) {
                exchange.progress();
                simulation.idle();
                sent = sent || exchange.sender.test(send) >= 0;
                received = received || exchange.receiver.test(receive) >= 0;
              }
              exchange.sender.cancel(unwanted);
            }
          };
      Allocation.assertNone(messages);
      exchange.close();
    }
  }

  /** An entry was checked, and its peer goes on changing what kind of receive it is. */
  @Test
  void aReceiveThatTurnsStagedAndBackHarmsNobody() throws InterruptedException {
    int count = 120;
    AtomicLong current = new AtomicLong(-1);
    AtomicLong turned = new AtomicLong(-1);
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(Profile.EFA).open()) {
      Exchange exchange = new Exchange(simulation, 1, 1, true);
      MemorySegment memory = arena.allocate(64, 64);
      DataRegistration from = exchange.register(exchange.left, memory);
      DataRegistration to = exchange.register(exchange.right, memory);
      for (int i = 0; i < count; i++) {
        Posting.receive(
            exchange.receiver,
            1,
            new long[] {memory.address()},
            new long[] {64},
            new int[] {0},
            new DataRegistration[] {to});
      }
      for (int i = 0; i < 1000; i++) {
        exchange.progress();
        simulation.idle();
      }
      // Now every entry is there, and was looked at.
      assertTrue(
          exchange.sender.cancel(Posting.send(exchange.sender, memory.address(), 64, 1, from)));
      assertEquals(count + 1, exchange.sender.firstUnseen());
      MailboxWriter evil =
          new MailboxWriter(exchange.mailbox, new MailboxLayout(1), Exchange.SENDER_GENERATION);
      Thread peer =
          new Thread(
              () -> {
                for (long at = current.get(); at != -2; at = current.get()) {
                  if (at > 0) {
                    // Staged, in chunks of 1 KiB.
                    evil.put(at, memory.address(), MailboxLayout.staged(1, 64, 10), 0);
                    evil.seal(at, 0);
                    evil.put(at, memory.address(), 64, 0);
                    evil.seal(at, 0);
                    turned.lazySet(at);
                  }
                }
              });
      peer.start();
      try {
        for (long index = 1; index <= count; index++) {
          current.set(index);
          while (turned.get() != current.get()) {
            Thread.onSpinWait();
          }
          assertTrue(Posting.send(exchange.sender, memory.address(), 64, 0, from) > 0);
        }
      } finally {
        current.set(-2);
        peer.join();
      }
      Failure why = new Failure(FailureCause.ABORTED, 0, "test", "");
      exchange.sender.abandon(why);
      exchange.receiver.abandon(why);
      exchange.left.endpoint.abort();
      exchange.right.endpoint.abort();
    }
  }

  /** With tcp a write is done when it left, and says nothing of a peer that died meanwhile. */
  static Stream<Profile> profilesThatTellOfTheDead() {
    return profiles().filter(profile -> !profile.behaviour().targetMustPoll());
  }

  @ParameterizedTest
  @MethodSource("profilesThatTellOfTheDead")
  void aDeadPeerFailsTheSendAndAllAfterIt(Profile profile) {
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(profile).open()) {
      Exchange exchange = new Exchange(simulation, 1, 1, profile.behaviour().writeData());
      MemorySegment memory = arena.allocate(8192, 128);
      DataRegistration from = exchange.register(exchange.left, memory);
      DataRegistration to = exchange.register(exchange.right, memory);
      for (int i = 0; i < 3; i++) {
        long receive =
            Posting.receive(
                exchange.receiver,
                1,
                new long[] {memory.address()},
                new long[] {64},
                new int[] {0},
                new DataRegistration[] {to});
        assertTrue(receive > 0);
      }
      for (int round = 0; exchange.sender.firstUnseen() <= 3; round++) {
        assertTrue(round < IDLE_ROUNDS, "no receives");
        exchange.progress();
        simulation.idle();
      }
      long first = Posting.send(exchange.sender, memory.address() + 4096, 64, 0, from);
      simulation.host(1).kill();
      // The first may have left before; what is posted to a dead peer is reported by its test.
      List<Long> results = new ArrayList<>();
      results.add(outcome(exchange, first));
      results.add(
          outcome(exchange, Posting.send(exchange.sender, memory.address() + 4096, 64, 0, from)));
      results.add(
          outcome(exchange, Posting.send(exchange.sender, memory.address() + 4096, 64, 0, from)));
      assertEquals(
          List.of(FailureCause.PEER_LOST.code(), FailureCause.PEER_LOST.code()),
          results.subList(1, 3),
          profile.name());
    }
  }

  private static long outcome(Exchange exchange, long request) {
    assertTrue(request > 0, "posting succeeds");
    long result = Result.IN_PROGRESS;
    for (int round = 0; result == Result.IN_PROGRESS; round++) {
      assertTrue(round < IDLE_ROUNDS, "no bound");
      exchange.left.progress();
      exchange.simulation.idle();
      result = exchange.sender.test(request);
    }
    return result;
  }
}
