package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
import org.jofi.rdma.engine.Script;
import org.jofi.rdma.nic.ArrivalSink;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.Handshake;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MessageType;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Two endpoints that carry good traffic while strangers send whatever they like. */
class HostileWireTest {
  private static final int MESSAGES = 50 * Integer.getInteger("jofi.seeds", 100);
  private static final int GROUPS = 400;
  private static final long SEED = 8;

  static Stream<Profile> profiles() {
    return Profile.ALL.stream();
  }

  /** Keeps what arrives, and hands it on. */
  private static final class Recorder implements ArrivalSink {
    final List<byte[]> messages = new ArrayList<>();
    private final ConnectionTable connections;

    Recorder(ConnectionTable connections) {
      this.connections = connections;
    }

    @Override
    public void immediate(long data) {
      connections.immediate(data);
    }

    @Override
    public void message(MemorySegment memory, long lengthBytes) {
      messages.add(memory.asSlice(0, lengthBytes).toArray(ValueLayout.JAVA_BYTE));
      connections.message(memory, lengthBytes);
    }

    @Override
    public void broken(Failure why) {
      connections.broken(why);
    }

    @Override
    public void railClosed() {
      connections.railClosed();
    }
  }

  /** Thousands of messages, and as many immediates and mailbox lines per profile. */
  @ParameterizedTest
  @MethodSource("profiles")
  void strangersAreDroppedAndCountedAndHarmNobody(Profile profile) {
    try (Simulation simulation =
            Simulation.of(profile).seed(SEED).nicsPerHost(2).faults(FaultPlan.survivable()).open();
        Arena arena = Arena.ofShared()) {
      new Siege(simulation, profile, arena, EagerGrant.NONE).run();
    }
  }

  /** The same where short messages may come before their receives. */
  @ParameterizedTest
  @MethodSource("profiles")
  void strangersHarmNobodyWhoSendsEagerly(Profile profile) {
    try (Simulation simulation =
            Simulation.of(profile).seed(SEED).nicsPerHost(2).faults(FaultPlan.survivable()).open();
        Arena arena = Arena.ofShared()) {
      new Siege(simulation, profile, arena, new EagerGrant(16, 63)).run();
    }
  }

  private static final class Siege {
    private final Simulation simulation;
    private final Random random = new Random(SEED);
    private final Arena arena;
    private final Node[] nodes;
    private final Recorder[] recorders = new Recorder[2];
    private final List<byte[]> old = new ArrayList<>();
    private final MemorySegment bytes;
    private final MemorySegment pattern;

    Siege(Simulation simulation, Profile profile, Arena arena, EagerGrant eager) {
      this.simulation = simulation;
      this.arena = arena;
      nodes =
          new Node[] {
            new Node(simulation, profile, 0, 2, eager), new Node(simulation, profile, 1, 2, eager)
          };
      for (int i = 0; i < nodes.length; i++) {
        recorders[i] = new Recorder(nodes[i].connections);
        nodes[i].host.sink = recorders[i];
      }
      bytes = arena.allocate(4096, 8);
      pattern = arena.allocate(ProtocolRun.PATTERN_BYTES, 128);
      for (int at = 0; at < ProtocolRun.PATTERN_BYTES; at += Long.BYTES) {
        pattern.set(ValueLayout.JAVA_LONG, at, random.nextLong());
      }
    }

    void run() {
      // Connections that were: what they said is sent again later.
      for (int i = 0; i < 3; i++) {
        Communicator former = connected(i % 2, 10);
        drive(former, false);
        former.close(i == 1, i == 2);
        former.step();
        await(former::isReleased);
        former.verifyAndRelease();
      }
      for (Recorder recorder : recorders) {
        old.addAll(recorder.messages);
      }
      Communicator there = connected(0, GROUPS);
      Communicator back = connected(1, GROUPS);
      Linked evil = new Linked(simulation, arena, nodes[0], nodes[1]);
      long before = dropped();
      for (int i = 0; i < MESSAGES; i++) {
        Node victim = nodes[random.nextInt(2)];
        victim.connections.message(bytes, hostile(there, back));
        victim.connections.immediate(stranger(there, back));
        tamper(evil);
        if (i % 16 == 0) {
          there.step();
          back.step();
          progress();
        }
      }
      long counted = dropped() - before;
      assertTrue(counted > MESSAGES, () -> "counted " + counted);
      drive(there, true);
      drive(back, true);
      assertTrue(there.isWhole(), there::describe);
      assertTrue(back.isWhole(), back::describe);
      assertEquals(0, nodes[0].connections.connector().attempts());
      for (Communicator good : List.of(there, back)) {
        good.close(false, false);
        await(good::isReleased);
        good.verifyAndRelease();
      }
      nodes[0].connections.close(evil.sending);
      nodes[1].connections.close(evil.receiving);
      await(() -> evil.sending.isReleased() && evil.receiving.isReleased());
      evil.from.release();
      evil.to.release();
      assertEquals(0, nodes[0].connections.live() + nodes[1].connections.live());
      nodes[0].close();
      nodes[1].close();
      assertEquals(List.of(), simulation.openObjects());
    }

    private Communicator connected(int from, int groups) {
      Node node = nodes[from];
      Node other = nodes[1 - from];
      Listener listener = other.connections.connector().listen(null);
      Communicator made =
          new Communicator("good", node, other, new Script(random, groups), arena, pattern);
      made.connect(() -> other.connections.connector().handle(listener));
      await(made::isAnswered);
      made.receive = listener.accept();
      assertNotNull(made.send);
      assertNotNull(made.receive);
      other.connections.connector().close(listener);
      return made;
    }

    private long dropped() {
      return nodes[0].connections.dropped() + nodes[1].connections.dropped();
    }

    private void drive(Communicator one, boolean whole) {
      await(
          () -> {
            one.step();
            return one.isOver();
          });
      assertEquals(0, one.failures, one::describe);
      assertTrue(!whole || one.isWhole(), one::describe);
    }

    private void progress() {
      if (nodes[0].connections.progress() + nodes[1].connections.progress() == 0) {
        simulation.idle();
      }
    }

    private void await(java.util.function.BooleanSupplier done) {
      for (int round = 0; !done.getAsBoolean(); round++) {
        assertTrue(round < 500_000, () -> "no end: " + simulation.describe());
        progress();
      }
    }

    /** Writes a message that is not sound, or not of now; its length. */
    private long hostile(Communicator there, Communicator back) {
      return switch (random.nextInt(7)) {
        case 0 -> put(noise(random.nextInt(2100)));
        case 1 -> {
          byte[] real = anyOf(recorders[random.nextInt(2)].messages);
          yield put(java.util.Arrays.copyOf(real, random.nextInt(real.length)));
        }
        case 2 -> {
          // One bit of what names the connection is turned: somebody guesses.
          byte[] real = anyOf(recorders[random.nextInt(2)].messages).clone();
          int at = random.nextInt(24, 32);
          real[at] ^= (byte) (1 << random.nextInt(8));
          real[6] = (byte) random.nextInt(3, 23);
          yield put(real);
        }
        case 3 -> {
          byte[] real = anyOf(recorders[random.nextInt(2)].messages).clone();
          int version = random.nextInt(4, 60_000);
          real[4] = (byte) version;
          real[5] = (byte) (version >> 8);
          yield put(real);
        }
        // All that connections that are gone ever said.
        case 4 -> put(anyOf(old));
        case 5 -> Handshake.put(bytes, there.attempt.request);
        default -> {
          ReceiveConnection connection = random.nextBoolean() ? there.receive : back.receive;
          assertNotNull(connection);
          ConnectionId sound = connection.id().reversed();
          ConnectionId other =
              new ConnectionId(
                  sound.to(),
                  random.nextBoolean() ? sound.toGeneration() % 65_535 + 1 : sound.toGeneration(),
                  sound.from(),
                  sound.fromGeneration(),
                  sound.attempt() + random.nextInt(1, 1000));
          if (random.nextBoolean()) {
            ControlMessage.put(bytes, other, MessageType.ABORT, 0, 0, FailureCause.ABORTED);
          } else {
            ControlMessage.put(
                bytes,
                other,
                MessageType.ASK,
                random.nextInt(1, 500),
                ControlMessage.ofStripe(random.nextInt(32), 1, false),
                null);
          }
          yield ControlMessage.BYTES;
        }
      };
    }

    private byte[] noise(int length) {
      byte[] noise = new byte[length];
      random.nextBytes(noise);
      return noise;
    }

    private byte[] anyOf(List<byte[]> messages) {
      return messages.get(random.nextInt(messages.size()));
    }

    private long put(byte[] message) {
      MemorySegment.copy(message, 0, bytes, ValueLayout.JAVA_BYTE, 0, message.length);
      return message.length;
    }

    /** Immediate data for anybody but those who are good: who knows a number may complete it. */
    private long stranger(Communicator there, Communicator back) {
      assertNotNull(there.receive);
      assertNotNull(back.receive);
      int data = random.nextInt();
      int who = ImmediateData.communicator(data);
      if (who == there.receive.id().from() || who == back.receive.id().from()) {
        return 1L << 40 | (data & 0xffff_ffffL);
      }
      return random.nextBoolean() ? data : data & 0xffff_ffffL;
    }

    /** Writes into the mailbox of a connection whose peer is evil, and sends on it. */
    private void tamper(Linked evil) {
      MemorySegment mailbox = nodes[0].mailboxes.getLast();
      int line = random.nextInt((int) (mailbox.byteSize() / MailboxLayout.LINE_BYTES));
      long at = (long) line * MailboxLayout.LINE_BYTES;
      switch (random.nextInt(3)) {
        case 0 ->
            MemorySegment.copy(
                noise(MailboxLayout.LINE_BYTES),
                0,
                mailbox,
                ValueLayout.JAVA_BYTE,
                at,
                MailboxLayout.LINE_BYTES);
        case 1 -> {
          // A line of another connection's mailbox, as it stands there.
          MemorySegment other = nodes[0].mailboxes.getFirst();
          if (other.scope().isAlive()) {
            MemorySegment.copy(other, at, mailbox, at, MailboxLayout.LINE_BYTES);
          }
        }
        default ->
            mailbox.set(
                ValueLayout.JAVA_BYTE,
                at + random.nextInt(MailboxLayout.LINE_BYTES),
                (byte) random.nextInt());
      }
      DataRegistration from = evil.from;
      long id =
          Posting.send(evil.sending.sender, evil.source.address(), 64, random.nextInt(), from);
      assertNull(evil.sending.failure());
      assertTrue(evil.sending.sender.cancel(id), "a receive was made up");
    }
  }
}
