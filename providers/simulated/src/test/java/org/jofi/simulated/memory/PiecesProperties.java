package org.jofi.simulated.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** All bytes land, once and nowhere else, whatever the order and the batches. */
class PiecesProperties {

  @Property(tries = 500)
  void allBytesLandAndNoOthers(
      @ForAll @IntRange(max = 70) int lead,
      @ForAll @IntRange(max = 3000) int bytes,
      @ForAll long order,
      @ForAll @IntRange(min = 1, max = 5) int batches) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment source = arena.allocate(bytes + 1L, 64);
      MemorySegment target = arena.allocate(bytes + 256L, 64);
      for (int i = 0; i < bytes; i++) {
        source.set(ValueLayout.JAVA_BYTE, i, (byte) (i % 127 + 1));
      }
      Pieces pieces = new Pieces();
      pieces.prepare(source.address(), target.address() + lead, bytes, order);
      for (int batch = 1; batch <= batches; batch++) {
        pieces.land(batch, batches);
      }
      for (int i = 0; i < target.byteSize(); i++) {
        boolean inside = i >= lead && i < lead + bytes;
        byte expected = inside ? source.get(ValueLayout.JAVA_BYTE, i - lead) : 0;
        assertEquals(expected, target.get(ValueLayout.JAVA_BYTE, i), "byte " + i);
      }
    }
  }
}
