package org.jofi.rdma.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

class ImmediateDataProperties {

  @Property
  void partsComeBack(
      @ForAll @IntRange(min = 0, max = 31) int stripe,
      @ForAll boolean ends,
      @ForAll boolean isShort,
      @ForAll @IntRange(min = 1, max = 32_767) int communicator,
      @ForAll @LongRange(min = 1) long index) {
    boolean isFinal = ends || stripe == 31;
    int bits = ImmediateData.of(stripe, isFinal, isShort, communicator, index);
    assertEquals(WireFault.NONE, ImmediateData.check(Integer.toUnsignedLong(bits)));
    assertEquals(stripe, ImmediateData.stripe(bits));
    assertEquals(isFinal, ImmediateData.isFinal(bits));
    assertEquals(isShort, ImmediateData.isShort(bits));
    assertEquals(communicator, ImmediateData.communicator(bits));
    assertEquals(index % 1024, ImmediateData.indexBits(bits));
  }

  @Example
  void theBitsAreWhereTheyAreDocumented() {
    assertEquals(3 << 27, ImmediateData.of(3, false, false, 1, 0) & ~(1 << 10));
    assertEquals(1 << 26, ImmediateData.of(0, true, false, 1, 0) & ~(1 << 10));
    assertEquals(1 << 25, ImmediateData.of(0, false, true, 1, 0) & ~(1 << 10));
    assertEquals(5 << 10, ImmediateData.of(0, false, false, 5, 1024));
    assertEquals(0x1ffffff, ImmediateData.of(0, false, false, 32_767, 1023));
    assertEquals(0xffffffff, ImmediateData.of(31, true, true, 32_767, 1023));
  }

  @Example
  void hostileDataIsNamedOrReadsBackTheSame() {
    Random random = new Random(5);
    Map<WireFault, Integer> found = new EnumMap<>(WireFault.class);
    for (int i = 0; i < 1_000_000; i++) {
      long data = random.nextLong();
      if (random.nextInt(8) != 0) {
        data &= 0xffff_ffffL;
      }
      if (random.nextInt(8) == 0) {
        data &= ~(0x7fffL << 10);
      }
      WireFault fault = ImmediateData.check(data);
      found.merge(fault, 1, Integer::sum);
      if (fault == WireFault.NONE) {
        int bits = (int) data;
        assertEquals(
            bits,
            ImmediateData.of(
                ImmediateData.stripe(bits),
                ImmediateData.isFinal(bits),
                ImmediateData.isShort(bits),
                ImmediateData.communicator(bits),
                ImmediateData.indexBits(bits)));
      }
    }
    assertTrue(
        found.keySet().size() == 4
            && found.containsKey(WireFault.IMMEDIATE)
            && found.containsKey(WireFault.STRIPE)
            && found.containsKey(WireFault.COMMUNICATOR),
        found::toString);
  }
}
