package org.jofi.rdma.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Packets of eager messages: what is written is what is read, and no walk leaves a packet. */
class EagerPacketProperties {
  private static final ConnectionId ID = new ConnectionId(7, 8, 9, 10, 11);

  private record Message(int tag, MemorySegment payload) {
    static Message of(int tag, byte... payload) {
      return new Message(tag, MemorySegment.ofArray(payload));
    }

    int length() {
      return (int) payload.byteSize();
    }
  }

  private static List<Message> messages(Random random, int count, int mostBytes) {
    return Stream.generate(
            () ->
                Message.of(random.nextInt(), Messages.bytes(random, random.nextInt(mostBytes + 1))))
        .limit(count)
        .toList();
  }

  private static byte[] packet(
      int at, ConnectionId id, long ordinal, long seen, List<Message> messages) {
    int most = EagerPacket.HEADER_BYTES;
    for (Message message : messages) {
      most = EagerPacket.after(most + EagerPacket.MESSAGE_BYTES, message.length());
    }
    byte[] bytes = new byte[at + most];
    Arrays.fill(bytes, (byte) 0xee);
    MemorySegment memory = MemorySegment.ofArray(bytes);
    int offset = EagerPacket.begin(memory.asSlice(at), ordinal, seen);
    for (Message message : messages) {
      int length = message.length();
      int payload = EagerPacket.putMessage(memory.asSlice(at), offset, message.tag, length);
      MemorySegment.copy(message.payload, 0, memory, (long) at + payload, length);
      offset = EagerPacket.after(payload, length);
    }
    assertEquals(most, offset);
    MessageHeader.put(memory.asSlice(at), MessageType.EAGER, offset, id);
    return bytes;
  }

  private static byte[] sound(Random random) {
    return packet(
        0,
        Messages.connectionId(random, true, true),
        random.nextLong(1, 1L << 62),
        random.nextLong() >>> 1,
        messages(random, random.nextInt(1, 9), 40));
  }

  @Property(tries = 300)
  void packetsComeBack(
      @ForAll Random random,
      @ForAll @IntRange(min = 0, max = 7) int at,
      @ForAll @IntRange(min = 1, max = EagerPacket.MOST_MESSAGES) int count) {
    ConnectionId id = Messages.connectionId(random, true, true);
    long ordinal = random.nextLong(1, 1L << 62);
    long seen = random.nextLong() >>> 1;
    List<Message> messages = messages(random, count, random.nextInt(200));
    byte[] bytes = packet(at, id, ordinal, seen, messages);
    MemorySegment memory = MemorySegment.ofArray(bytes);
    int length = bytes.length - at;
    assertEquals(WireFault.NONE, EagerPacket.check(memory.asSlice(at), length));
    assertEquals(id, MessageHeader.connectionId(memory.asSlice(at)));
    assertEquals(ordinal, EagerPacket.ordinal(memory.asSlice(at)));
    assertEquals(seen, EagerPacket.seen(memory.asSlice(at)));
    int offset = EagerPacket.HEADER_BYTES;
    for (Message message : messages) {
      assertEquals(0, offset % 8);
      assertEquals(message.tag, EagerPacket.tag(memory.asSlice(at), offset));
      assertEquals(message.length(), EagerPacket.lengthBytes(memory.asSlice(at), offset));
      long payload = (long) at + offset + EagerPacket.MESSAGE_BYTES;
      assertEquals(-1, message.payload.mismatch(memory.asSlice(payload, message.length())));
      offset = EagerPacket.next(memory.asSlice(at), offset);
    }
    assertEquals(length, offset);
  }

  @Example
  void theLongestPacketIsSound() {
    Message longest = Message.of(1, new byte[EagerGrant.MOST_BYTES]);
    byte[] bytes =
        packet(
            0,
            ID,
            Long.MAX_VALUE - EagerPacket.MOST_MESSAGES,
            Long.MAX_VALUE,
            Stream.generate(() -> longest).limit(EagerPacket.MOST_MESSAGES).toList());
    assertEquals(WireFault.NONE, check(bytes));
  }

  private static WireFault check(byte[] bytes) {
    return EagerPacket.check(MemorySegment.ofArray(bytes), bytes.length);
  }

  /** Walks what was accepted, and says how many messages there were. */
  private static int walk(byte[] bytes) {
    MemorySegment memory = MemorySegment.ofArray(bytes);
    int count = 0;
    int offset = EagerPacket.HEADER_BYTES;
    for (; offset < bytes.length; offset = EagerPacket.next(memory, offset)) {
      int length = EagerPacket.lengthBytes(memory, offset);
      assertTrue(length >= 0 && length <= EagerGrant.MOST_BYTES, "" + length);
      assertTrue(offset + EagerPacket.MESSAGE_BYTES + length <= bytes.length);
      EagerPacket.tag(memory, offset);
      count++;
    }
    assertEquals(bytes.length, offset);
    return count;
  }

  @Example
  void hostilePacketsAreNamedAndNeverThrow() {
    Random random = new Random(17);
    Set<WireFault> found = EnumSet.noneOf(WireFault.class);
    for (int i = 0; i < 200_000; i++) {
      byte[] bytes = HostileBytes.from(random, sound(random));
      if (bytes.length >= 12 && random.nextBoolean()) {
        // The length is right, so that what is behind the header is looked at.
        MemorySegment.ofArray(bytes).set(WireLayouts.INT, 8, bytes.length);
      }
      WireFault fault = check(bytes);
      found.add(fault);
      if (fault == WireFault.NONE) {
        int count = walk(bytes);
        assertTrue(count >= 1 && count <= EagerPacket.MOST_MESSAGES, "" + count);
        MemorySegment memory = MemorySegment.ofArray(bytes);
        assertTrue(EagerPacket.ordinal(memory) >= 1);
        assertTrue(EagerPacket.seen(memory) >= 0);
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
            WireFault.INDEX,
            WireFault.RANGE)) {
      assertTrue(found.contains(fault), () -> "never found " + fault + " in " + found);
    }
  }

  private static byte[] two() {
    return packet(0, ID, 1, 0, List.of(Message.of(1, new byte[5]), Message.of(2, new byte[16])));
  }

  private static WireFault withLong(int at, long value) {
    byte[] bytes = two();
    MemorySegment.ofArray(bytes).set(WireLayouts.LONG, at, value);
    return check(bytes);
  }

  private static WireFault withLength(int message, int lengthBytes) {
    byte[] bytes = two();
    MemorySegment.ofArray(bytes).set(WireLayouts.INT, message + 4, lengthBytes);
    return check(bytes);
  }

  private static WireFault ofLength(int length) {
    byte[] bytes = Arrays.copyOf(two(), length);
    MemorySegment.ofArray(bytes).set(WireLayouts.INT, 8, length);
    return check(bytes);
  }

  @Example
  void eachKindOfLieIsNamed() {
    assertEquals(48 + 8 + 8 + 8 + 16, two().length);
    assertEquals(WireFault.NONE, check(two()));
    for (long ordinal : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      assertEquals(WireFault.INDEX, withLong(32, ordinal));
    }
    assertEquals(WireFault.INDEX, withLong(40, -1));
    assertEquals(WireFault.INDEX, withLong(40, Long.MIN_VALUE));
    // Other lengths of the first message lead to other places, or end where the packet does.
    assertEquals(WireFault.NONE, withLength(48, 8));
    assertEquals(WireFault.NONE, withLength(48, 32));
    assertEquals(WireFault.NONE, withLength(64, 9));
    assertEquals(WireFault.TRUNCATED, withLength(48, 33));
    assertEquals(WireFault.TRUNCATED, withLength(64, 17));
    assertEquals(WireFault.TRUNCATED, withLength(64, EagerGrant.MOST_BYTES));
    for (int length : new int[] {EagerGrant.MOST_BYTES + 1, Integer.MAX_VALUE, -1, -8}) {
      assertEquals(WireFault.RANGE, withLength(48, length));
      assertEquals(WireFault.RANGE, withLength(64, length));
    }
    for (int length = 32; length < two().length; length++) {
      assertEquals(length == 64 ? WireFault.NONE : WireFault.TRUNCATED, ofLength(length));
    }
    byte[] old = two();
    old[4] = 1;
    assertEquals(WireFault.VERSION, check(old));
    byte[] ofNoGeneration = two();
    ofNoGeneration[14] = 0;
    assertEquals(WireFault.GENERATION, check(ofNoGeneration));
  }

  @Example
  void aPacketHasOneMessageAtLeastAndNotTooMany() {
    assertEquals(WireFault.TRUNCATED, check(packet(0, ID, 1, 0, List.of())));
    List<Message> empty = new ArrayList<>();
    for (int i = 0; i < EagerPacket.MOST_MESSAGES; i++) {
      empty.add(Message.of(i, new byte[0]));
    }
    byte[] most = packet(0, ID, 1, 0, empty);
    assertEquals(WireFault.NONE, check(most));
    assertEquals(EagerPacket.MOST_MESSAGES, walk(most));
    empty.add(Message.of(0, new byte[0]));
    assertEquals(WireFault.TRAILING, check(packet(0, ID, 1, 0, empty)));
  }

  @Example
  void otherMessagesAreNoPackets() {
    byte[] bytes = new byte[ControlMessage.BYTES];
    ControlMessage.put(MemorySegment.ofArray(bytes), ID, MessageType.READY, 0, 0, null);
    assertEquals(WireFault.TYPE, check(bytes));
    byte[] packet = two();
    assertEquals(
        WireFault.TYPE, ControlMessage.check(MemorySegment.ofArray(packet), packet.length));
  }

  /** The bytes that docs/PROTOCOL.md gives. */
  @Example
  void theFieldsAreWhereTheyAreDocumented() {
    byte[] bytes =
        packet(
            0,
            new ConnectionId(0x0102, 0x0304, 0x7fff, 0x0708, 0x1122334455667788L),
            9,
            5,
            List.of(Message.of(0x0a0b0c0d, new byte[] {1, 2, 3})));
    assertEquals(
        "6a6f667005000e004000000002010403"
            + "ff7f0807000000008877665544332211"
            + "09000000000000000500000000000000"
            + "0d0c0b0a03000000010203eeeeeeeeee",
        HexFormat.of().formatHex(bytes));
  }
}
