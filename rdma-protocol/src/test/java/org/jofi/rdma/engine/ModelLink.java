package org.jofi.rdma.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jofi.rdma.connect.Connection;
import org.jofi.rdma.connect.ReceiveConnection;
import org.jofi.rdma.connect.SendConnection;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.wire.ConnectAccept;
import org.jofi.rdma.wire.ConnectionId;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.EagerPacket;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.Features;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxTarget;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.RailAddresses;
import org.jofi.rdma.wire.WireFault;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * Two ends of a connection and what is between them, in one thread and without a fabric: what is on
 * its way lands, completes, fails or is repeated in whatever order is chosen. Time passes when
 * nothing else happens.
 */
final class ModelLink {
  static final int RAILS = 2;

  /** What the longest message has. */
  static final int MOST_BYTES = 64;

  private static final int MESSAGES = 64;
  private static final long MAILBOX = 1;
  private static final long NEVER = Long.MAX_VALUE / 2;

  /** So often what waits is looked at: timed, found waiting, tried anew. */
  private static final int TICKS = 4;

  private static final byte UNTOUCHED = (byte) 0xee;
  private static final MailboxLayout LAYOUT = new MailboxLayout(RAILS);

  /** Memory that all runs use, one after the other. */
  private static final MemorySegment ALL =
      Arena.ofAuto().allocate(2L * LAYOUT.mailboxBytes() + 2L * MESSAGES * MOST_BYTES * 2, 4096);

  private static final MemorySegment MAILBOXES = ALL.asSlice(0, 2L * LAYOUT.mailboxBytes());
  private static final MemorySegment SOURCE =
      ALL.asSlice(MAILBOXES.byteSize(), 2L * MESSAGES * MOST_BYTES);
  private static final MemorySegment TARGET =
      ALL.asSlice(MAILBOXES.byteSize() + SOURCE.byteSize(), 2L * MESSAGES * MOST_BYTES);

  private final Choices choices;
  private final boolean faults;
  private final boolean delivers;
  private final boolean writesData;
  private final ModelEnd left = new ModelEnd(this);
  private final ModelEnd right = new ModelEnd(this);
  private final List<Flight> flights = new ArrayList<>();
  private final List<ModelMemory> memories = new ArrayList<>();
  private final MemorySegment mailbox = MAILBOXES.asSlice(0, LAYOUT.mailboxBytes());
  private final ModelMemory source;
  final SendConnection sending;
  final ReceiveConnection receiving;
  private boolean ended;

  /** Whether entries were lost that had left, of which their end was not told. */
  private boolean hasLost;

  private long now;
  private long trace;

  /** Something on its way. */
  private sealed interface Flight {
    /** A stripe of a transfer; it may have landed, and told so. */
    final class Stripe implements Flight {
      final ModelEnd.Stripes transfer;
      final int number;
      final long key;
      final long to;
      final boolean bringsData;
      final int bits;

      /** What it brings, once it completed: its source is the engine's again. */
      byte @Nullable [] bytes;

      boolean landed;
      boolean completed;

      Stripe(ModelEnd.Stripes transfer, int number) {
        this.transfer = transfer;
        this.number = number;
        key = transfer.keyOf(number);
        to = transfer.to(number);
        bringsData = transfer.bringsData(number);
        bits = bringsData ? transfer.bits(number) : 0;
      }

      byte[] read() {
        byte[] read = bytes;
        if (read == null) {
          read = new byte[(int) transfer.lengthBytes(number)];
          at(transfer.from(number), read.length).asByteBuffer().get(read);
        }
        return read;
      }
    }

    /** A message. */
    record Sent(ModelEnd.Message message) implements Flight {}
  }

  /**
   * @param writesData whether stripes bring immediate data
   * @param eager what both ends grant
   * @param delivers whether a write that completed has landed
   * @param faults whether posts and completions may fail
   */
  ModelLink(
      Choices choices, boolean writesData, boolean delivers, boolean faults, EagerGrant eager) {
    this.choices = choices;
    this.delivers = delivers;
    this.faults = faults;
    this.writesData = writesData;
    MAILBOXES.fill((byte) 0);
    source = memory(SOURCE);
    PeerLink there = new PeerLink(left, new ConnectionId(9, 3, 7, 5, 1));
    PeerLink back = new PeerLink(right, there.id.reversed());
    List<MailboxTarget> targets = new ArrayList<>();
    for (int rail = 0; rail < RAILS; rail++) {
      targets.add(new MailboxTarget(mailbox.address(), MAILBOX));
    }
    sending =
        new SendConnection(
            () -> {}, there, NEVER, new Sender(there, mailbox, writesData, 1 << 20, eager));
    FabricAddress nowhere = FabricAddress.of(new byte[] {1});
    receiving =
        new ReceiveConnection(
            () -> {},
            back,
            new Receiver(
                back,
                MAILBOXES.asSlice(LAYOUT.mailboxBytes(), LAYOUT.mailboxBytes()),
                _ -> 0,
                targets,
                eager),
            new ConnectAccept(
                back.id,
                Features.WRITE_THEN_SEND,
                1 << 20,
                new RailAddresses(1, List.of(nowhere), List.of(nowhere), List.of(0)),
                EagerGrant.NONE),
            NEVER);
  }

  private ModelMemory memory(MemorySegment segment) {
    ModelMemory memory = new ModelMemory(segment, MAILBOX + 1 + memories.size());
    memories.add(memory);
    return memory;
  }

  boolean completionMeansDelivered() {
    return delivers;
  }

  /** Whether something is not taken now. */
  boolean refuses() {
    return !ended && choices.of(8) == 1;
  }

  /** How much of so many bytes is cut. */
  long part(long bytes) {
    return ended || bytes < 2
        ? bytes
        : switch (choices.of(4)) {
          case 0 -> bytes;
          case 1 -> bytes / 2;
          case 2 -> 1;
          default -> bytes - 1;
        };
  }

  /** Whether something that is tried fails. */
  boolean fails() {
    return faults && !ended && choices.of(8) == 2;
  }

  /** Whether a message cannot be sent, as if no rail were left. */
  boolean failsForGood() {
    return faults && !ended && choices.of(64) == 3;
  }

  void post(ModelEnd.Stripes transfer, int stripe) {
    for (Flight flight : flights) {
      assertTrue(
          !(flight instanceof Flight.Stripe other)
              || other.completed
              || other.transfer != transfer
              || other.number != stripe,
          "a stripe is on its way twice");
    }
    note(17 + stripe);
    flights.add(new Flight.Stripe(transfer, stripe));
  }

  void post(ModelEnd.Message message) {
    note(3);
    flights.add(new Flight.Sent(message));
  }

  private void note(long what) {
    trace = trace * 31 + what;
  }

  /** What happened, as a number. */
  long trace() {
    return trace;
  }

  /** Sends a message of that number and length. */
  long send(int number, int bytes, int tag) {
    long at = (long) number * MOST_BYTES;
    for (int i = 0; i < bytes; i++) {
      SOURCE.set(java.lang.foreign.ValueLayout.JAVA_BYTE, at + i, pattern(number, i));
    }
    return Posting.send(sending.sender, SOURCE.address() + at, bytes, tag, source);
  }

  /** A receive of that number and length: its memory. */
  ModelMemory landing(int number) {
    MemorySegment piece = TARGET.asSlice(2L * number * MOST_BYTES, 2L * MOST_BYTES);
    piece.fill(UNTOUCHED);
    return memory(piece);
  }

  /** Receives, as a group, with all the memory that was made for each. */
  long receive(ModelMemory[] into, long[] bytes, int[] tags) {
    long[] addresses = new long[into.length];
    for (int i = 0; i < into.length; i++) {
      addresses[i] = into[i].range().address();
    }
    return Posting.receive(receiving.receiver, into.length, addresses, bytes, tags, into);
  }

  static byte pattern(int number, int at) {
    return (byte) (number * 37 + at * 5 + 1);
  }

  /** The message of that number is in a receive, and nothing behind it. */
  void assertHolds(int receive, int number, int bytes) {
    long at = 2L * receive * MOST_BYTES;
    for (int i = 0; i < 2 * MOST_BYTES; i++) {
      assertEquals(
          i < bytes ? pattern(number, i) : UNTOUCHED,
          TARGET.get(java.lang.foreign.ValueLayout.JAVA_BYTE, at + i),
          "byte " + i);
    }
  }

  /** From now on nothing is refused, nothing fails, and all that is on its way arrives in order. */
  void end() {
    ended = true;
  }

  /** An end whose peer failed is told so, as by an ABORT. */
  void tellOfFailure() {
    if ((sending.failure() == null) != (receiving.failure() == null)) {
      Connection other = sending.failure() == null ? sending : receiving;
      other.fail(new Failure(FailureCause.ABORTED, 0, "model", "the peer failed"));
    }
  }

  @SuppressWarnings("restricted")
  private static MemorySegment at(long address, long lengthBytes) {
    return MemorySegment.ofAddress(address).reinterpret(lengthBytes);
  }

  /** One thing happens; whether anything was left to happen. */
  boolean step() {
    left.endpoint().tasks().run();
    right.endpoint().tasks().run();
    if (hasLost && (ended || choices.of(4) == 1)) {
      hasLost = false;
      receiving.protocol.controlLost();
    }
    for (int tick = 0; tick < TICKS && flights.isEmpty(); tick++) {
      // What was not taken, or got no answer, is tried anew as time goes by.
      now++;
      sending.check(now, NEVER);
      receiving.check(now, NEVER);
      left.endpoint().tasks().run();
      right.endpoint().tasks().run();
    }
    if (flights.isEmpty()) {
      return false;
    }
    int which = ended ? 0 : choices.of(flights.size());
    switch (flights.get(which)) {
      case Flight.Stripe stripe -> move(stripe, which);
      case Flight.Sent sent -> {
        flights.remove(which);
        boolean fails = fails();
        arrive(sent.message);
        // It arrived all the same, and is sent again if that may be.
        if (fails && (sent.message.isBare() || sent.message.isEager())) {
          arrive(sent.message);
        }
        sent.message.over(true);
      }
    }
    return true;
  }

  private void move(Flight.Stripe stripe, int which) {
    boolean late = !delivers && !stripe.transfer.completesWhenDelivered(stripe.number);
    int how = ended ? 0 : choices.of(4);
    if (!stripe.completed && fails()) {
      // Some of what fails has happened.
      if (!stripe.landed && how % 2 == 1) {
        land(stripe);
      }
      flights.remove(which);
      stripe.transfer.broke(stripe.number);
    } else if (how == 3 && late && !stripe.completed && !stripe.landed && losesEntries(stripe)) {
      flights.remove(which);
      hasLost = true;
      stripe.transfer.finished(stripe.number);
    } else if (how == 1 && late && !stripe.completed && !stripe.landed) {
      stripe.completed = true;
      stripe.bytes = stripe.read();
      stripe.transfer.finished(stripe.number);
    } else if (how == 2 && !stripe.landed && !stripe.completed) {
      land(stripe);
    } else {
      if (!stripe.landed) {
        land(stripe);
      }
      flights.remove(which);
      if (!stripe.completed) {
        stripe.transfer.finished(stripe.number);
      }
    }
  }

  /** Whether the rail is lost over which they left. */
  private boolean losesEntries(Flight.Stripe stripe) {
    return stripe.key == MAILBOX && faults && choices.of(2) == 1;
  }

  private void land(Flight.Stripe stripe) {
    stripe.landed = true;
    byte[] bytes = stripe.read();
    if (stripe.key != MAILBOX) {
      ModelMemory memory = memories.get((int) (stripe.key - MAILBOX - 1));
      assertTrue(memory.contains(stripe.to, bytes.length), "out of its registration");
      assertTrue(
          memory.isInUse() || bytes.length == 0, "P7: it lands in memory that was handed back");
    }
    if (bytes.length > 0) {
      at(stripe.to, bytes.length).copyFrom(MemorySegment.ofArray(bytes));
    }
    if (stripe.bringsData) {
      immediate(stripe.transfer.home(), stripe.bits);
    }
  }

  private void immediate(ModelEnd of, int bits) {
    assertEquals(WireFault.NONE, ImmediateData.check(Integer.toUnsignedLong(bits)));
    (of == left ? receiving : sending).protocol.immediate(bits);
  }

  private void arrive(ModelEnd.Message message) {
    if (message.isBare()) {
      immediate(message.home(), message.bits());
      return;
    }
    Connection to = message.home() == left ? receiving : sending;
    MemorySegment memory = message.memory();
    assertEquals(WireFault.NONE, MessageHeader.check(memory, message.lengthBytes()));
    assertTrue(MessageHeader.isOf(memory, to.id()));
    to.hear();
    MessageType type = MessageHeader.type(memory);
    if (type == MessageType.EAGER) {
      assertEquals(WireFault.NONE, EagerPacket.check(memory, message.lengthBytes()));
      to.protocol.packet(memory, message.lengthBytes());
      return;
    }
    assertEquals(WireFault.NONE, ControlMessage.check(memory, message.lengthBytes()));
    if (type == MessageType.ASK) {
      to.answer(
          ControlMessage.number(memory),
          ControlMessage.stripe(memory),
          ControlMessage.tries(memory));
    } else if (type != null) {
      to.protocol.message(type, memory);
    }
  }

  /** Nothing is under way any more, and all that was taken was given back. */
  void assertQuiet() {
    if (writesData) {
      // As a close tells it, for which nothing is waited that never comes, or let go of too early.
      assertEquals(sending.protocol.writes(), receiving.protocol.arrived(), "writes that arrived");
    }
    assertTrue(sending.isQuiet() && receiving.isQuiet());
    assertEquals(0, left.taken() + right.taken(), "messages that were not given back");
    for (ModelMemory memory : memories) {
      assertTrue(!memory.isInUse(), "memory that is still in use");
    }
    assertEquals(0, right.endpoint().budget().announced(), "room that was not given back");
  }
}
