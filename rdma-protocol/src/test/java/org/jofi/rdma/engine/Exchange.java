package org.jofi.rdma.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jofi.fabric.Access;
import org.jofi.mr.ControlRegistration;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.driver.Host;
import org.jofi.rdma.nic.ArrivalSink;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.PeerControl;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.EagerPacket;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxTarget;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.RailUpdate;
import org.jofi.rdma.wire.WireFault;
import org.jofi.simulated.Simulation;
import org.jofi.transport.Failure;

/** A connection between two simulated hosts, without a handshake: each is told of the other. */
final class Exchange implements AutoCloseable {
  static final long MAX = 1L << 20;

  private static final long CHECK_NS = 1_000_000;
  private static final long LOOK_NS = 50_000_000;
  private static final int QUIET_ROUNDS = 10_000;
  private static final int SENDER_ID = 7;
  static final int SENDER_GENERATION = 11;
  private static final int RECEIVER_ID = 32_767;
  private static final int RECEIVER_GENERATION = 65_535;

  final Simulation simulation;
  final Host left;
  final Host right;
  final Sender sender;
  final Receiver receiver;

  /** The sender's, which the receiver writes into. */
  final MemorySegment mailbox;

  private final Arena arena = Arena.ofShared();
  private final List<DataRegistration> leases = new ArrayList<>();
  private final EagerGrant eager;
  private final List<Question> questions = new ArrayList<>();
  private long checked;
  private long looked;
  private long strays;

  Exchange(Simulation simulation, int rails, int controlRails, boolean writesData) {
    this(simulation, rails, controlRails, writesData, MAX);
  }

  Exchange(
      Simulation simulation,
      int rails,
      int controlRails,
      boolean writesData,
      long maxMessageBytes) {
    this(simulation, rails, controlRails, writesData, maxMessageBytes, EagerGrant.NONE);
  }

  Exchange(
      Simulation simulation,
      int rails,
      int controlRails,
      boolean writesData,
      long maxMessageBytes,
      EagerGrant eager) {
    this.eager = eager;
    this.simulation = simulation;
    left = new Host(simulation, 0, rails, controlRails);
    right = new Host(simulation, 1, rails, controlRails);
    PeerLink there =
        new PeerLink(
            left.endpoint.path(right.endpoint.addresses()),
            new ConnectionId(RECEIVER_ID, RECEIVER_GENERATION, SENDER_ID, SENDER_GENERATION, 1));
    PeerLink back =
        new PeerLink(right.endpoint.path(left.endpoint.addresses()), there.id.reversed());
    MailboxLayout layout = new MailboxLayout(rails);
    mailbox = arena.allocate(layout.mailboxBytes(), MailboxLayout.LINE_BYTES);
    MemorySegment copy = arena.allocate(layout.mailboxBytes(), MailboxLayout.LINE_BYTES);
    ControlRegistration registered =
        left.endpoint.registrations.registerControl(BufferRange.host(mailbox), Access.REMOTE_WRITE);
    List<MailboxTarget> targets = new ArrayList<>();
    for (int rail = 0; rail < controlRails; rail++) {
      targets.add(
          new MailboxTarget(
              registered.remoteAddress(rail, mailbox.address()), registered.key(rail)));
    }
    sender = new Sender(there, mailbox, writesData, maxMessageBytes, eager);
    receiver =
        new Receiver(
            back,
            copy,
            right.endpoint.registrations.registerLocal(
                BufferRange.host(copy), right.endpoint.controlRails(), Access.WRITE),
            targets,
            eager);
    right.sink = new ReceiverSink();
    left.sink = new SenderSink();
  }

  DataRegistration register(Host host, MemorySegment memory) {
    DataRegistration lease =
        host.endpoint.registrations.acquire(BufferRange.host(memory), Access.ALL);
    leases.add(lease);
    return lease;
  }

  /** What arrived at the receiver's host for nobody. */
  long strays() {
    return strays;
  }

  private static MessageType type(MemorySegment memory) {
    return Objects.requireNonNull(MessageHeader.type(memory));
  }

  int progress() {
    int events = left.progress();
    int arrived = right.progress();
    if (arrived == 0 && !questions.isEmpty()) {
      questions.forEach(this::answer);
      questions.clear();
    }
    events += arrived;
    if (simulation.nanoTime() - looked >= LOOK_NS) {
      looked = simulation.nanoTime();
      lookAtRails();
    }
    if (!eager.isNone() && simulation.nanoTime() - checked >= CHECK_NS) {
      // What waits for credit in vain says so as time goes by.
      checked = simulation.nanoTime();
      sender.check(0, Long.MAX_VALUE);
    }
    return events;
  }

  /** As a table of connections: looks at the rails, and tells each side what the other has to. */
  private void lookAtRails() {
    left.endpoint.peers.look(looked);
    right.endpoint.peers.look(looked);
    PeerControl there = sender.link.sink.peer();
    PeerControl back = receiver.link.sink.peer();
    lookAtRails(there, back);
    lookAtRails(back, there);
  }

  private static void lookAtRails(PeerControl of, PeerControl other) {
    for (RailUpdate update = of.takeUpdate(); update != null; update = of.takeUpdate()) {
      boolean sound = other.told(update);
      assert sound : update;
    }
  }

  private record Question(long index, int stripe, int tries) {}

  /** As a table of connections: when the queues are empty. */
  private void answer(Question question) {
    int has = receiver.hasStripe(question.index, question.stripe);
    Packet packet = has == MessageProtocol.UNKNOWN ? null : receiver.link.sink.takePacket();
    if (packet != null) {
      ControlMessage.put(
          packet.memory(),
          receiver.link.id,
          MessageType.ANSWER,
          question.index,
          ControlMessage.ofStripe(question.stripe, question.tries, has == MessageProtocol.ARRIVED),
          null);
      packet.send(ControlMessage.BYTES, SentListener.NOBODY, 0);
    }
  }

  /** Closes both in order, after what was sent last is acknowledged, which needs both polled. */
  @Override
  public void close() {
    for (int round = 0; round < QUIET_ROUNDS && !(left.isQuiet() && right.isQuiet()); round++) {
      if (progress() == 0) {
        simulation.idle();
      }
    }
    leases.forEach(DataRegistration::release);
    left.close();
    right.close();
    arena.close();
  }

  private final class ReceiverSink implements ArrivalSink {
    @Override
    public void railClosed() {
      receiver.railClosed();
    }

    @Override
    public void broken(Failure why) {
      throw new AssertionError(why);
    }

    @Override
    public void immediate(long data) {
      if (ImmediateData.check(data) == WireFault.NONE
          && ImmediateData.communicator((int) data) == RECEIVER_ID) {
        receiver.immediate((int) data);
      } else {
        strays++;
      }
    }

    @Override
    public void message(MemorySegment memory, long lengthBytes) {
      if (EagerPacket.check(memory, lengthBytes) == WireFault.NONE) {
        receiver.packet(memory, lengthBytes);
      } else if (ControlMessage.check(memory, lengthBytes) == WireFault.NONE
          && MessageHeader.to(memory) == RECEIVER_ID) {
        if (type(memory) == MessageType.ASK) {
          questions.add(
              new Question(
                  ControlMessage.number(memory),
                  ControlMessage.stripe(memory),
                  ControlMessage.tries(memory)));
        } else {
          receiver.message(type(memory), memory);
        }
      } else {
        strays++;
      }
    }
  }

  /** What arrives at the sender's host. */
  private final class SenderSink implements ArrivalSink {
    @Override
    public void broken(Failure why) {
      throw new AssertionError(why);
    }

    @Override
    public void immediate(long data) {
      throw new AssertionError("the receiver writes no data");
    }

    @Override
    public void message(MemorySegment memory, long lengthBytes) {
      if (ControlMessage.check(memory, lengthBytes) != WireFault.NONE
          || !(sender.message(type(memory), memory)
              // To a question that was asked again.
              || type(memory) == MessageType.ANSWER)) {
        throw new AssertionError("the receiver sent " + type(memory));
      }
    }
  }
}
