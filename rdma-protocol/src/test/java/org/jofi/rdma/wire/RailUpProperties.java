package org.jofi.rdma.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Where a side is reached on a rail: what is written is what is read, and nothing else passes. */
class RailUpProperties {
  private final byte[] bytes = new byte[RailUp.MAX_BYTES + 8];
  private final MemorySegment memory = MemorySegment.ofArray(bytes);

  private static RailUp any(Random random) {
    return new RailUp(
        random.nextInt(ProtocolLimits.MAX_RAILS),
        random.nextInt(Integer.MAX_VALUE),
        random.nextInt(Integer.MAX_VALUE),
        Messages.address(random));
  }

  @Property
  void soundMessagesComeBack(@ForAll Random random, @ForAll @IntRange(max = 8) int at) {
    Arrays.fill(bytes, (byte) 0xee);
    RailUp endpoint = any(random);
    ConnectionId id = Messages.connectionId(random, true, true);
    boolean answers = random.nextBoolean();
    int length = endpoint.put(memory, at, id, answers);
    assertEquals(WireFault.NONE, RailUp.check(memory, at, length));
    assertEquals(endpoint, RailUp.read(memory, at));
    assertEquals(id, MessageHeader.connectionId(memory, at));
    assertEquals(
        answers ? MessageType.RAIL_SEEN : MessageType.RAIL_UP, MessageHeader.type(memory, at));
    for (int other = 0; other < length; other++) {
      assertNotEquals(WireFault.NONE, RailUp.check(memory, at, other), "of " + other);
    }
    if (at + length < bytes.length) {
      assertNotEquals(WireFault.NONE, RailUp.check(memory, at, length + 1));
    }
  }

  /** What passes can be read, and is within what a rail can be. */
  @Property
  void brokenMessagesAreRefusedOrRead(@ForAll Random random) {
    int length = any(random).put(memory, 0, Messages.connectionId(random, true, true), true);
    for (int changes = random.nextInt(1, 4); changes > 0; changes--) {
      bytes[random.nextInt(length)] = (byte) random.nextInt();
    }
    if (RailUp.check(memory, 0, length) == WireFault.NONE) {
      RailUp read = RailUp.read(memory, 0);
      assertEquals(read.rail(), read.rail() & ProtocolLimits.MAX_RAILS - 1);
    }
  }
}
