package org.jofi.rdma.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.jofi.transport.FailureCause;

class ControlMessageProperties {
  private final byte[] bytes = new byte[ControlMessage.BYTES];
  private final MemorySegment memory = MemorySegment.ofArray(bytes);

  private static final MessageType[] OF_A_RECEIVE = {
    MessageType.TRUE_LENGTH,
    MessageType.LACKING,
    MessageType.ARRIVED,
    MessageType.CHUNKS_WRITTEN,
    MessageType.CHUNKS_TAKEN
  };

  private void putAny(Random random) {
    FailureCause why = FailureCause.of(-16 - random.nextInt(FailureCause.values().length));
    ConnectionId connectionId = Messages.connectionId(random, true, true);
    switch (random.nextInt(14)) {
      case 0 ->
          ControlMessage.putRefuse(
              memory,
              0,
              Messages.connectionId(random, true, false),
              why,
              random.nextInt(256),
              random.nextInt(256));
      case 1 ->
          ControlMessage.putClose(
              memory,
              0,
              connectionId,
              random.nextLong() >>> 1,
              random.nextLong() >>> 1,
              random.nextBoolean() ? why : null);
      case 2 -> ControlMessage.putClosed(memory, 0, connectionId, random.nextLong() >>> 1);
      case 3 -> ControlMessage.putAbort(memory, 0, connectionId, why);
      case 9 -> ControlMessage.putReady(memory, 0, connectionId);
      case 4 ->
          ControlMessage.putPing(
              memory, 0, connectionId, random.nextLong() >>> 1, random.nextLong() >>> 1);
      case 5 ->
          ControlMessage.putPong(
              memory, 0, connectionId, random.nextLong() >>> 1, random.nextLong() >>> 1);
      case 6 ->
          ControlMessage.putAsk(
              memory,
              0,
              connectionId,
              random.nextLong(1, Long.MAX_VALUE),
              random.nextInt(ProtocolLimits.MAX_STRIPES),
              random.nextInt(1, ControlMessage.MOST_TRIES + 1));
      case 8 -> {
        long number = random.nextLong(1, Long.MAX_VALUE);
        int stripe = random.nextInt(ProtocolLimits.MAX_STRIPES);
        boolean isFinal = stripe == ProtocolLimits.MAX_STRIPES - 1 || random.nextBoolean();
        ControlMessage.putWritten(
            memory,
            0,
            connectionId,
            number,
            ImmediateData.of(stripe, isFinal, random.nextBoolean(), connectionId.to(), number));
      }
      case 7 ->
          ControlMessage.putAnswer(
              memory,
              0,
              connectionId,
              random.nextLong(1, Long.MAX_VALUE),
              random.nextInt(ProtocolLimits.MAX_STRIPES),
              random.nextInt(1, ControlMessage.MOST_TRIES + 1),
              random.nextBoolean());
      case 10 -> {
        int untaken = random.nextInt(256);
        ControlMessage.putCredit(
            memory,
            0,
            connectionId,
            random.nextLong(untaken, Long.MAX_VALUE),
            untaken,
            random.nextLong(1L << 55));
      }
      case 11 -> ControlMessage.putWant(memory, 0, connectionId, random.nextLong(Long.MAX_VALUE));
      default -> {
        MessageType type = OF_A_RECEIVE[random.nextInt(OF_A_RECEIVE.length)];
        ControlMessage.putOfReceive(
            memory,
            0,
            connectionId,
            type,
            random.nextLong(1, Long.MAX_VALUE),
            type == MessageType.LACKING
                ? 0
                : random.nextLong(ProtocolLimits.MAX_MESSAGE_BYTES + 1));
      }
    }
  }

  /** Writes again what was read. */
  private byte[] rewritten() {
    byte[] again = new byte[ControlMessage.BYTES];
    MemorySegment out = MemorySegment.ofArray(again);
    ConnectionId connectionId = MessageHeader.connectionId(memory, 0);
    switch (MessageHeader.type(memory, 0)) {
      case REFUSE ->
          ControlMessage.putRefuse(
              out,
              0,
              connectionId,
              ControlMessage.reason(memory, 0),
              ControlMessage.refuserDataRails(memory, 0),
              ControlMessage.refuserControlRails(memory, 0));
      case CLOSE ->
          ControlMessage.putClose(
              out,
              0,
              connectionId,
              ControlMessage.number(memory, 0),
              ControlMessage.writes(memory, 0),
              ControlMessage.hasReason(memory, 0) ? ControlMessage.reason(memory, 0) : null);
      case CLOSED ->
          ControlMessage.putClosed(out, 0, connectionId, ControlMessage.writes(memory, 0));
      case ABORT -> ControlMessage.putAbort(out, 0, connectionId, ControlMessage.reason(memory, 0));
      case READY -> ControlMessage.putReady(out, 0, connectionId);
      case PING ->
          ControlMessage.putPing(
              out,
              0,
              connectionId,
              ControlMessage.finished(memory, 0),
              ControlMessage.seen(memory, 0));
      case PONG ->
          ControlMessage.putPong(
              out,
              0,
              connectionId,
              ControlMessage.finished(memory, 0),
              ControlMessage.seen(memory, 0));
      case WRITTEN ->
          ControlMessage.putWritten(
              out,
              0,
              connectionId,
              ControlMessage.number(memory, 0),
              ControlMessage.immediate(memory, 0));
      case ASK ->
          ControlMessage.putAsk(
              out,
              0,
              connectionId,
              ControlMessage.number(memory, 0),
              ControlMessage.stripe(memory, 0),
              ControlMessage.tries(memory, 0));
      case ANSWER ->
          ControlMessage.putAnswer(
              out,
              0,
              connectionId,
              ControlMessage.number(memory, 0),
              ControlMessage.stripe(memory, 0),
              ControlMessage.tries(memory, 0),
              ControlMessage.arrived(memory, 0));
      case CREDIT ->
          ControlMessage.putCredit(
              out,
              0,
              connectionId,
              ControlMessage.handled(memory, 0),
              ControlMessage.untaken(memory, 0),
              ControlMessage.announced(memory, 0));
      case WANT -> ControlMessage.putWant(out, 0, connectionId, ControlMessage.number(memory, 0));
      case TRUE_LENGTH, LACKING, ARRIVED, CHUNKS_WRITTEN, CHUNKS_TAKEN ->
          ControlMessage.putOfReceive(
              out,
              0,
              connectionId,
              MessageHeader.type(memory, 0),
              ControlMessage.number(memory, 0),
              ControlMessage.lengthBytes(memory, 0));
      default -> throw new AssertionError();
    }
    // A refusal may be of another version, which is kept.
    again[4] = bytes[4];
    again[5] = bytes[5];
    return again;
  }

  @Property
  void soundMessagesPassAndComeBack(@ForAll Random random) {
    putAny(random);
    assertEquals(WireFault.NONE, ControlMessage.check(memory, 0, ControlMessage.BYTES));
    assertArrayEquals(bytes, rewritten());
  }

  @Property
  void trueLengthsComeBack(
      @ForAll @LongRange(min = 1) long number,
      @ForAll @LongRange(min = 0, max = ProtocolLimits.MAX_MESSAGE_BYTES) long length) {
    ConnectionId connectionId = new ConnectionId(7, 8, 9, 10, 11);
    ControlMessage.putOfReceive(memory, 0, connectionId, MessageType.TRUE_LENGTH, number, length);
    assertEquals(WireFault.NONE, ControlMessage.check(memory, 0, ControlMessage.BYTES));
    assertEquals(number, ControlMessage.number(memory, 0));
    assertEquals(length, ControlMessage.lengthBytes(memory, 0));
    assertEquals(connectionId, MessageHeader.connectionId(memory, 0));
    assertEquals(new ConnectionId(9, 10, 7, 8, 11), connectionId.reversed());
  }

  private WireFault withLength(long length) {
    memory.set(WireLayouts.LONG, 40, length);
    return ControlMessage.check(memory, 0, ControlMessage.BYTES);
  }

  private WireFault credit(long handled, int untaken, long announced) {
    ControlMessage.putCredit(
        memory, 0, new ConnectionId(7, 8, 9, 10, 11), handled, untaken, announced);
    WireFault fault = ControlMessage.check(memory, 0, ControlMessage.BYTES);
    if (fault == WireFault.NONE) {
      assertEquals(handled, ControlMessage.handled(memory, 0));
      assertEquals(untaken, ControlMessage.untaken(memory, 0));
      assertEquals(announced, ControlMessage.announced(memory, 0));
    }
    return fault;
  }

  @Example
  void creditsAreOfWhatWasHandled() {
    assertEquals(WireFault.NONE, credit(0, 0, 0));
    assertEquals(WireFault.NONE, credit(255, 255, (1L << 55) - 1));
    assertEquals(WireFault.NONE, credit(Long.MAX_VALUE, 0, 300));
    assertEquals(0x12cL << 8, memory.get(WireLayouts.LONG, 40));
    assertEquals(WireFault.INDEX, credit(254, 255, 1));
    assertEquals(WireFault.INDEX, credit(-1, 0, 1));
    assertEquals(WireFault.NONE, credit(1, 0, 1));
    assertEquals(WireFault.RANGE, withLength(Long.MIN_VALUE));
  }

  private WireFault want(long seen) {
    ControlMessage.putWant(memory, 0, new ConnectionId(7, 8, 9, 10, 11), seen);
    WireFault fault = ControlMessage.check(memory, 0, ControlMessage.BYTES);
    if (fault == WireFault.NONE) {
      assertEquals(seen, ControlMessage.number(memory, 0));
    }
    return fault;
  }

  @Example
  void wantsTellWhatWasSeen() {
    assertEquals(WireFault.NONE, want(0));
    assertEquals(WireFault.NONE, want(Long.MAX_VALUE));
    assertEquals(WireFault.INDEX, want(-1));
    want(1);
    assertEquals(WireFault.RANGE, withLength(1));
  }

  @Example
  void onlySomeTypesAreControlMessages() {
    for (MessageType type : MessageType.values()) {
      boolean isOther =
          EnumSet.of(
                  MessageType.CONNECT,
                  MessageType.ACCEPT,
                  MessageType.EAGER,
                  MessageType.RAIL_UPDATE)
              .contains(type);
      assertEquals(!isOther, type.isControl(), () -> "" + type);
    }
    assertEquals(MessageType.EAGER, MessageType.of(14));
    assertEquals(MessageType.CREDIT, MessageType.of(15));
    assertEquals(MessageType.WANT, MessageType.of(16));
    assertEquals(MessageType.RAIL_UPDATE, MessageType.of(17));
    assertEquals(MessageType.ARRIVED, MessageType.of(19));
    assertEquals(MessageType.CHUNKS_WRITTEN, MessageType.of(20));
    assertEquals(MessageType.CHUNKS_TAKEN, MessageType.of(21));
  }

  @Example
  void hostileMessagesAreNamedAndNeverThrow() {
    Random random = new Random(11);
    Set<WireFault> found = EnumSet.noneOf(WireFault.class);
    for (int i = 0; i < 200_000; i++) {
      putAny(random);
      byte[] hostile = HostileBytes.from(random, bytes);
      MemorySegment arrived = MemorySegment.ofArray(hostile);
      WireFault fault = ControlMessage.check(arrived, 0, hostile.length);
      found.add(fault);
      if (fault == WireFault.NONE) {
        System.arraycopy(hostile, 0, bytes, 0, bytes.length);
        assertArrayEquals(hostile, rewritten());
      }
    }
    for (WireFault fault :
        EnumSet.of(
            WireFault.NONE,
            WireFault.TRUNCATED,
            WireFault.MAGIC,
            WireFault.VERSION,
            WireFault.TYPE,
            WireFault.LENGTH,
            WireFault.RESERVED,
            WireFault.COMMUNICATOR,
            WireFault.GENERATION,
            WireFault.INDEX,
            WireFault.RANGE,
            WireFault.REASON,
            WireFault.RAILS,
            WireFault.STRIPE)) {
      assertTrue(found.contains(fault), () -> "never found " + fault + " in " + found);
    }
  }

  /** The bytes that docs/PROTOCOL.md gives. */
  @Example
  void theFieldsAreWhereTheyAreDocumented() {
    ControlMessage.putAnswer(
        memory,
        0,
        new ConnectionId(0x0102, 0x0304, 0x7fff, 0x0708, 0x1122334455667788L),
        9,
        5,
        2,
        true);
    assertEquals(
        "6a6f667004000b004000000002010403"
            + "ff7f0807000000008877665544332211"
            + "09000000000000002502000000000000"
            + "0".repeat(32),
        HexFormat.of().formatHex(bytes));
  }

  @Example
  void handshakesAreNotControlMessages() {
    byte[] request = HandshakeProperties.encoded(Messages.request(new Random(2)));
    assertEquals(
        WireFault.TYPE, ControlMessage.check(MemorySegment.ofArray(request), 0, request.length));
  }
}
