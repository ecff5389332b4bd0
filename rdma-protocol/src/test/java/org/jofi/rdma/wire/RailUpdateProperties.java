package org.jofi.rdma.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** What becomes of a rail: what is written is what is read, and nothing else passes. */
class RailUpdateProperties {
  private static final RailUpdate.Kind[] KINDS = RailUpdate.Kind.values();

  private final byte[] bytes = new byte[RailUpdate.MAX_BYTES + 8];
  private final MemorySegment memory = MemorySegment.ofArray(bytes);

  private static RailUpdate any(Random random) {
    return new RailUpdate(
        KINDS[random.nextInt(KINDS.length)],
        random.nextInt(ProtocolLimits.MAX_RAILS),
        random.nextInt(Integer.MAX_VALUE),
        random.nextBoolean(),
        random.nextInt(Integer.MAX_VALUE),
        random.nextInt(Integer.MAX_VALUE),
        Messages.address(random));
  }

  @Property
  void soundMessagesComeBack(@ForAll Random random, @ForAll @IntRange(max = 8) int at) {
    Arrays.fill(bytes, (byte) 0xee);
    RailUpdate update = any(random);
    ConnectionId id = Messages.connectionId(random, true, true);
    int length = update.put(memory.asSlice(at), id);
    assertEquals(WireFault.NONE, RailUpdate.check(memory.asSlice(at), length));
    assertEquals(update, RailUpdate.read(memory.asSlice(at)));
    assertEquals(id, MessageHeader.connectionId(memory.asSlice(at)));
    assertEquals(MessageType.RAIL_UPDATE, MessageHeader.type(memory.asSlice(at)));
    for (int other = 0; other < length; other++) {
      assertNotEquals(WireFault.NONE, RailUpdate.check(memory.asSlice(at), other), "of " + other);
    }
    if (at + length < bytes.length) {
      assertNotEquals(WireFault.NONE, RailUpdate.check(memory.asSlice(at), length + 1));
    }
  }

  /** What passes can be read, and is within what a rail can be. */
  @Property
  void brokenMessagesAreRefusedOrRead(@ForAll Random random) {
    int length = any(random).put(memory, Messages.connectionId(random, true, true));
    for (int changes = random.nextInt(1, 4); changes > 0; changes--) {
      bytes[random.nextInt(length)] = (byte) random.nextInt();
    }
    if (RailUpdate.check(memory, length) == WireFault.NONE) {
      RailUpdate read = RailUpdate.read(memory);
      assertEquals(read.rail(), read.rail() & ProtocolLimits.MAX_RAILS - 1);
      assertEquals(0, (read.epoch() | read.known() | read.least()) >>> 31);
    }
  }
}
