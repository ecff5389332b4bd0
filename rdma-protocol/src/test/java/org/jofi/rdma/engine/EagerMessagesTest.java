package org.jofi.rdma.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jofi.allocation.Allocation;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.request.RequestQueue;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.EagerPacket;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.MessageType;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Short messages that leave before their receives are announced. */
class EagerMessagesTest {
  private static final int CREDITS = 8;
  private static final int LONGEST = 256;
  private static final int TAG = 3;
  private static final byte UNTOUCHED = (byte) 0xee;

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  /** Without those whose first operation waits until the peer is connected. */
  static Stream<Profile> profilesThatTakeItAtOnce() {
    return profiles().filter(profile -> !profile.equals(Profile.TCP));
  }

  /** Two ends that grant eight messages of 256 bytes, and memory of each. */
  private static final class Setting {
    final Simulation simulation;
    final Exchange exchange;
    final MemorySegment source;
    final MemorySegment target;
    final DataRegistration from;
    final DataRegistration[] to;

    Setting(Simulation simulation, Arena arena, Profile profile) {
      this.simulation = simulation;
      exchange =
          new Exchange(
              simulation,
              2,
              2,
              profile.behaviour().writeData(),
              Exchange.MAX,
              new EagerGrant(CREDITS, LONGEST));
      source = arena.allocate(4096, 64);
      target = arena.allocate(4096, 64);
      target.fill(UNTOUCHED);
      from = exchange.register(exchange.left, source);
      to = new DataRegistration[] {exchange.register(exchange.right, target)};
    }

    long send(int bytes, int tag, byte content) {
      source.asSlice(0, bytes).fill(content);
      long id = Posting.send(exchange.sender, source.address(), bytes, tag, from);
      // A short one was copied: its memory is the caller's again.
      if (bytes <= LONGEST) {
        source.asSlice(0, bytes).fill((byte) 0);
      }
      return id;
    }

    long receive(long at, int bytes, int tag) {
      return Posting.receive(
          exchange.receiver,
          1,
          new long[] {target.address() + at},
          new long[] {bytes},
          new int[] {tag},
          to);
    }

    long await(RequestQueue requests, long id) {
      long result = requests.test(id);
      for (int round = 0; result == Result.IN_PROGRESS; round++) {
        assertTrue(round < 100_000, "it does not come to its end");
        pass();
        result = requests.test(id);
      }
      return result;
    }

    void pass() {
      if (exchange.progress() == 0) {
        simulation.idle();
      }
    }

    void assertHolds(long at, int bytes, byte content) {
      for (int i = 0; i < bytes; i++) {
        assertEquals(content, target.get(ValueLayout.JAVA_BYTE, at + i));
      }
      assertEquals(UNTOUCHED, target.get(ValueLayout.JAVA_BYTE, at + bytes));
    }
  }

  private static void with(Profile profile, Consumer<Setting> test) {
    try (Arena arena = Arena.ofShared();
        Simulation simulation = Simulation.of(profile).nicsPerHost(2).open()) {
      Setting setting = new Setting(simulation, arena, profile);
      test.accept(setting);
      setting.exchange.close();
      assertEquals(List.of(), simulation.openObjects());
    }
  }

  @ParameterizedTest
  @MethodSource("profilesThatTakeItAtOnce")
  void aShortSendIsOverBeforeThereIsAReceive(Profile profile) {
    with(
        profile,
        setting -> {
          Exchange exchange = setting.exchange;
          long before = setting.simulation.operations();
          assertEquals(100, exchange.sender.test(setting.send(100, TAG, (byte) 7)));
          assertEquals(1, setting.simulation.operations() - before, "one packet");
          for (int i = 0; i < 100; i++) {
            setting.pass();
          }
          // It is stored, and takes the receive at once.
          assertEquals(100, exchange.receiver.test(setting.receive(0, 120, TAG)));
          setting.assertHolds(0, 100, (byte) 7);
          // A receive that is there is filled, and is not announced.
          long receive = setting.receive(512, 80, TAG);
          long empty = setting.receive(1024, 80, TAG);
          setting.send(80, TAG, (byte) 9);
          setting.send(0, TAG, (byte) 9);
          assertEquals(80, setting.await(exchange.receiver, receive));
          assertEquals(0, setting.await(exchange.receiver, empty));
          setting.assertHolds(512, 80, (byte) 9);
          assertEquals(0, exchange.receiver.writes(), "nothing was announced");
        });
  }

  /** NCCL's receives are as long as its buffers, whatever comes. */
  @ParameterizedTest
  @MethodSource("profiles")
  void longReceivesAreWithheldAfterManyShortMessages(Profile profile) {
    with(
        profile,
        setting -> {
          Exchange exchange = setting.exchange;
          exchange(setting, 100, 40);
          long announced = exchange.receiver.writes();
          exchange(setting, 100, 20);
          assertEquals(announced, exchange.receiver.writes(), "nothing more is announced");
          // A long one comes all the same, and its sender asks at once.
          long receive = setting.receive(0, 1024, TAG);
          long send = setting.send(1000, TAG, (byte) 9);
          int polls = 0;
          while (exchange.receiver.test(receive) == Result.IN_PROGRESS) {
            setting.pass();
            assertTrue(++polls < 200, "it asks too late");
          }
          setting.await(exchange.sender, send);
          setting.assertHolds(0, 1000, (byte) 9);
          assertEquals(announced + 1, exchange.receiver.writes());
          // Where long ones come now and then, receives are announced as before.
          for (int i = 0; i < 10; i++) {
            exchange(setting, 100, 3);
            exchange(setting, 1000, 1);
          }
          announced = exchange.receiver.writes();
          long next = setting.receive(0, 1024, TAG);
          for (polls = 0; exchange.receiver.writes() == announced; polls++) {
            setting.pass();
            assertTrue(polls < 200, "it is not announced");
          }
          long last = setting.send(1000, TAG, (byte) 5);
          assertEquals(1000, setting.await(exchange.receiver, next));
          setting.await(exchange.sender, last);
        });
  }

  private static void exchange(Setting setting, int bytes, int messages) {
    for (int i = 0; i < messages; i++) {
      setting.target.fill(UNTOUCHED);
      long receive = setting.receive(0, 1024, TAG);
      long send = setting.send(bytes, TAG, (byte) i);
      assertEquals(bytes, setting.await(setting.exchange.receiver, receive));
      setting.await(setting.exchange.sender, send);
      setting.assertHolds(0, bytes, (byte) i);
    }
  }

  @ParameterizedTest
  @MethodSource("profilesThatTakeItAtOnce")
  void aRowOfSendsTakesTwoPackets(Profile profile) {
    with(
        profile,
        setting -> {
          long before = setting.simulation.operations();
          long[] sends = new long[CREDITS];
          for (int i = 0; i < CREDITS; i++) {
            sends[i] = setting.send(8, TAG, (byte) i);
          }
          assertEquals(1, setting.simulation.operations() - before);
          assertEquals(8, setting.exchange.sender.test(sends[0]));
          assertEquals(Result.IN_PROGRESS, setting.exchange.sender.test(sends[1]), "not posted");
          setting.exchange.progress();
          assertEquals(2, setting.simulation.operations() - before);
          for (int i = 1; i < CREDITS; i++) {
            assertEquals(8, setting.exchange.sender.test(sends[i]));
          }
          for (int i = 0; i < CREDITS; i++) {
            long receive = setting.receive(16L * i, 8, TAG);
            assertEquals(8, setting.await(setting.exchange.receiver, receive));
            setting.assertHolds(16L * i, 8, (byte) i);
          }
        });
  }

  /** P3: no more than was granted is under way, and what waits goes on by itself. */
  @ParameterizedTest
  @MethodSource("profiles")
  void aSenderWithoutCreditWaitsAndGoesOn(Profile profile) {
    with(
        profile,
        setting -> {
          Exchange exchange = setting.exchange;
          long[] sends = new long[3 * CREDITS];
          for (int i = 0; i < sends.length; i++) {
            sends[i] = setting.send(8, TAG, (byte) i);
            // What is queued is read when it leaves.
            if (i >= CREDITS) {
              assertTrue(exchange.sender.usesMemory(sends[i]));
            }
          }
          for (int i = 0; i < 1000; i++) {
            setting.pass();
          }
          for (int i = 0; i < sends.length; i++) {
            assertEquals(
                i < CREDITS ? 8 : Result.IN_PROGRESS, exchange.sender.test(sends[i]), "send " + i);
          }
          for (int i = 0; i < sends.length; i++) {
            long receive = setting.receive(16L * i, 8, TAG);
            assertEquals(8, setting.await(exchange.receiver, receive));
          }
          for (int i = CREDITS; i < sends.length; i++) {
            assertEquals(8, setting.await(exchange.sender, sends[i]));
          }
        });
  }

  /** P11: whether the receive or the message is first. */
  @ParameterizedTest
  @MethodSource("profiles")
  void aShortMessageAllocatesNothing(Profile profile) {
    with(
        profile,
        setting -> {
          long[] address = {setting.target.address()};
          long[] bytes = {64};
          int[] tag = {TAG};
          Receiver receiver = setting.exchange.receiver;
          Sender sender = setting.exchange.sender;
          Runnable messages =
              () -> {
                for (int i = 0; i < 1000; i++) {
                  boolean receiveFirst = (i & 1) == 0;
                  long receive =
                      receiveFirst
                          ? Posting.receive(receiver, 1, address, bytes, tag, setting.to)
                          : 0;
                  long send = Posting.send(sender, setting.source.address(), 64, TAG, setting.from);
                  for (int round = 0; round < 20 && !receiveFirst; round++) {
                    setting.pass();
                  }
                  if (!receiveFirst) {
                    receive = Posting.receive(receiver, 1, address, bytes, tag, setting.to);
                  }
                  long got = Result.IN_PROGRESS;
                  long put = Result.IN_PROGRESS;
                  while (got == Result.IN_PROGRESS || put == Result.IN_PROGRESS) {
                    setting.pass();
                    got = got == Result.IN_PROGRESS ? receiver.test(receive) : got;
                    put = put == Result.IN_PROGRESS ? sender.test(send) : put;
                  }
                  if (got != 64 || put != 64) {
                    throw new IllegalStateException(got + " and " + put);
                  }
                }
              };
          Allocation.assertNone(messages);
        });
  }

  /** P5: what was not granted, comes again, or skips ahead is stored nowhere. */
  @Test
  void whatWasNotGrantedIsDropped() {
    with(
        Profile.EFA,
        setting -> {
          MemorySegment packet = Arena.ofAuto().allocate(4096, 8);
          Receiver receiver = setting.exchange.receiver;
          ConnectionId id = setting.exchange.sender.link.id;
          long before = receiver.dropped();
          assertTrue(deliver(receiver, packet, id, CREDITS + 1, 0, 8));
          assertTrue(deliver(receiver, packet, id, 1, 0, LONGEST + 1));
          assertTrue(deliver(receiver, packet, id, Long.MAX_VALUE / 2, 0, 8));
          assertEquals(3, receiver.dropped() - before);
          assertFalse(deliver(receiver, packet, id, 1, 1, 8), "it saw what was not announced");
          // The third before the first, and each twice.
          for (long ordinal = 3; ordinal >= 1; ordinal--) {
            assertTrue(deliver(receiver, packet, id, ordinal, 0, (int) (8 * ordinal)));
            assertTrue(deliver(receiver, packet, id, ordinal, 0, (int) (8 * ordinal)));
          }
          assertEquals(6, receiver.dropped() - before);
          for (long ordinal = 1; ordinal <= 3; ordinal++) {
            assertEquals(8 * ordinal, receiver.test(setting.receive(64 * ordinal, 64, TAG)));
            setting.assertHolds(64 * ordinal, (int) (8 * ordinal), (byte) ordinal);
          }
          setting.pass();
        });
  }

  private static boolean deliver(
      Receiver to, MemorySegment packet, ConnectionId id, long ordinal, long seen, int bytes) {
    int at = EagerPacket.begin(packet, ordinal, seen);
    int payload = EagerPacket.putMessage(packet, at, TAG, bytes);
    packet.asSlice(payload, bytes).fill((byte) ordinal);
    int length = EagerPacket.after(payload, bytes);
    MessageHeader.put(packet, MessageType.EAGER, length, id);
    return to.packet(packet, length);
  }
}
