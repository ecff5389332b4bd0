package org.jofi.rdma.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

class ControlMessageProperties {
  private final byte[] bytes = new byte[ControlMessage.BYTES];
  private final MemorySegment memory = MemorySegment.ofArray(bytes);

  private static final List<MessageType> TYPES =
      Arrays.stream(MessageType.values()).filter(MessageType::isControl).toList();

  private void putAny(Random random) {
    MessageType type = TYPES.get(random.nextInt(TYPES.size()));
    ConnectionId id = Messages.connectionId(random, true, type != MessageType.REFUSE);
    long index = random.nextLong(1, Long.MAX_VALUE);
    long count = random.nextLong() >>> 1;
    long length = random.nextLong(ProtocolLimits.MAX_MESSAGE_BYTES + 1);
    int stripe = random.nextInt(ProtocolLimits.MAX_STRIPES);
    int tries = random.nextInt(1, ControlMessage.MOST_TRIES + 1);
    FailureCause why = FailureCause.of(-16 - random.nextInt(FailureCause.values().length));
    switch (type) {
      case REFUSE ->
          put(id, type, 0, ControlMessage.ofRails(random.nextInt(256), random.nextInt(256)), why);
      case CLOSE ->
          put(id, type, count, random.nextLong() >>> 1, random.nextBoolean() ? why : null);
      case CLOSED -> put(id, type, 0, count, null);
      case ABORT -> put(id, type, 0, 0, why);
      case READY -> put(id, type, 0, 0, null);
      case PING, PONG -> put(id, type, count, random.nextLong() >>> 1, null);
      case ASK -> put(id, type, index, ControlMessage.ofStripe(stripe, tries, false), null);
      case ANSWER ->
          put(id, type, index, ControlMessage.ofStripe(stripe, tries, random.nextBoolean()), null);
      case WRITTEN -> {
        boolean isFinal = stripe == ProtocolLimits.MAX_STRIPES - 1 || random.nextBoolean();
        int bits = ImmediateData.of(stripe, isFinal, random.nextBoolean(), id.to(), index);
        put(id, type, index, Integer.toUnsignedLong(bits), null);
      }
      case CREDIT -> {
        int untaken = random.nextInt(256);
        long handled = random.nextLong(untaken, Long.MAX_VALUE);
        put(id, type, handled, ControlMessage.ofCredit(untaken, random.nextLong(1L << 55)), null);
      }
      case WANT -> put(id, type, count, 0, null);
      case LACKING -> put(id, type, index, 0, null);
      default -> put(id, type, index, length, null);
    }
  }

  private void put(
      ConnectionId id, MessageType type, long number, long value, @Nullable FailureCause why) {
    ControlMessage.put(memory, id, type, number, value, why);
  }

  /** Writes again what was read. */
  private byte[] rewritten() {
    byte[] again = new byte[ControlMessage.BYTES];
    MessageType type = MessageHeader.type(memory);
    long value =
        switch (type) {
          case REFUSE ->
              ControlMessage.ofRails(
                  ControlMessage.refuserDataRails(memory),
                  ControlMessage.refuserControlRails(memory));
          case ASK, ANSWER ->
              ControlMessage.ofStripe(
                  ControlMessage.stripe(memory),
                  ControlMessage.tries(memory),
                  ControlMessage.arrived(memory));
          case CREDIT ->
              ControlMessage.ofCredit(
                  ControlMessage.untaken(memory), ControlMessage.announced(memory));
          default -> ControlMessage.value(memory);
        };
    ControlMessage.put(
        MemorySegment.ofArray(again),
        MessageHeader.connectionId(memory),
        type,
        ControlMessage.number(memory),
        value,
        ControlMessage.hasReason(memory) ? ControlMessage.reason(memory) : null);
    // A refusal may be of another version, which is kept.
    again[4] = bytes[4];
    again[5] = bytes[5];
    return again;
  }

  @Property
  void soundMessagesPassAndComeBack(@ForAll Random random) {
    putAny(random);
    assertEquals(WireFault.NONE, ControlMessage.check(memory, ControlMessage.BYTES));
    assertArrayEquals(bytes, rewritten());
  }

  @Property
  void trueLengthsComeBack(
      @ForAll @LongRange(min = 1) long number,
      @ForAll @LongRange(min = 0, max = ProtocolLimits.MAX_MESSAGE_BYTES) long length) {
    ConnectionId connectionId = new ConnectionId(7, 8, 9, 10, 11);
    put(connectionId, MessageType.TRUE_LENGTH, number, length, null);
    assertEquals(WireFault.NONE, ControlMessage.check(memory, ControlMessage.BYTES));
    assertEquals(number, ControlMessage.number(memory));
    assertEquals(length, ControlMessage.value(memory));
    assertEquals(connectionId, MessageHeader.connectionId(memory));
    assertEquals(new ConnectionId(9, 10, 7, 8, 11), connectionId.reversed());
  }

  private WireFault withLength(long length) {
    memory.set(WireLayouts.LONG, 40, length);
    return ControlMessage.check(memory, ControlMessage.BYTES);
  }

  private WireFault credit(long handled, int untaken, long announced) {
    long value = ControlMessage.ofCredit(untaken, announced);
    put(new ConnectionId(7, 8, 9, 10, 11), MessageType.CREDIT, handled, value, null);
    WireFault fault = ControlMessage.check(memory, ControlMessage.BYTES);
    if (fault == WireFault.NONE) {
      assertEquals(handled, ControlMessage.number(memory));
      assertEquals(untaken, ControlMessage.untaken(memory));
      assertEquals(announced, ControlMessage.announced(memory));
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
    put(new ConnectionId(7, 8, 9, 10, 11), MessageType.WANT, seen, 0, null);
    WireFault fault = ControlMessage.check(memory, ControlMessage.BYTES);
    if (fault == WireFault.NONE) {
      assertEquals(seen, ControlMessage.number(memory));
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
                  MessageType.RAIL_UPDATE,
                  MessageType.REDIRECT)
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
      WireFault fault = ControlMessage.check(arrived, hostile.length);
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
    put(
        new ConnectionId(0x0102, 0x0304, 0x7fff, 0x0708, 0x1122334455667788L),
        MessageType.ANSWER,
        9,
        ControlMessage.ofStripe(5, 2, true),
        null);
    assertEquals(
        "6a6f667005000b004000000002010403"
            + "ff7f0807000000008877665544332211"
            + "09000000000000002502000000000000"
            + "0".repeat(32),
        HexFormat.of().formatHex(bytes));
  }

  /** Each type has one row, which says of each field whether there is anything in it. */
  @Example
  void whatIsInWhichTypeIsAsDocumented() throws IOException {
    Path root = Path.of("").toAbsolutePath();
    while (root != null && !Files.exists(root.resolve("docs/PROTOCOL.md"))) {
      root = root.getParent();
    }
    assertNotNull(root, "docs/PROTOCOL.md is in no folder above");
    String page = Files.readString(root.resolve("docs/PROTOCOL.md"));
    int types = 0;
    for (String row :
        page.substring(page.indexOf("| type | number | value | reason |"))
            .lines()
            .skip(2)
            .takeWhile(line -> line.startsWith("|"))
            .toList()) {
      String[] cells = row.split(" *\\| *", -1);
      for (String name : cells[1].split(", ", -1)) {
        MessageType type = MessageType.valueOf(name.replaceFirst(" .*", ""));
        assertEquals("%s (%d)".formatted(type, type.code()), name);
        boolean noNumber = type.check(1, 0x100) == WireFault.INDEX;
        boolean noValue = type.check(noNumber ? 0 : 1, 0x100) == WireFault.RANGE;
        assertEquals(cells[2].equals("0"), noNumber, row);
        assertEquals(cells[3].equals("0"), noValue, row);
        assertEquals(cells[4].equals("0"), type.reason == MessageType.Reason.NEVER, row);
        assertTrue(type.isControl(), row);
        types++;
      }
    }
    assertEquals(TYPES.size(), types);
  }

  @Example
  void handshakesAreNotControlMessages() {
    byte[] request = HandshakeProperties.encoded(Messages.request(new Random(2)));
    assertEquals(
        WireFault.TYPE, ControlMessage.check(MemorySegment.ofArray(request), request.length));
  }
}
