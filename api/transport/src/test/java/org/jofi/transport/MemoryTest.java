package org.jofi.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.MemoryKind;
import org.junit.jupiter.api.Test;

class MemoryTest {

  @Test
  void aSegmentIsKeptReachable() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment segment = arena.allocate(100).asSlice(40);
      Memory memory = Memory.of(segment);
      assertSame(segment, memory.segment());
      assertEquals(segment.address(), memory.address());
      assertEquals(60, memory.lengthBytes());
      assertEquals(MemoryKind.HOST, memory.kind());
      assertNull(memory.withoutSegment().segment());
      assertEquals(60, memory.withoutSegment().lengthBytes());
    }
  }

  @Test
  void aDirectBufferIsTakenFromItsPositionToItsLimit() {
    ByteBuffer buffer = ByteBuffer.allocateDirect(100).position(10).limit(30);
    Memory memory = Memory.of(buffer);
    assertEquals(20, memory.lengthBytes());
    assertEquals(MemorySegment.ofBuffer(buffer).address(), memory.address());
  }

  @Test
  void deviceMemoryIsByAddressOrThroughADmaBuf() {
    Memory memory = Memory.device(MemoryKind.CUDA, 1, 0x1000, 4096);
    assertEquals(1, memory.device());
    assertNull(memory.segment());
    DmaBuf piece = new DmaBuf(7, 0);
    assertSame(piece, memory.through(piece).dmaBuf());
    assertTrue(memory.toString().contains("4096 bytes of CUDA memory at 0x1000"));
  }

  @Test
  void whatCannotBeRegisteredIsRefused() {
    MemorySegment heap = MemorySegment.ofArray(new byte[10]);
    ByteBuffer heapBuffer = ByteBuffer.allocate(10);
    ByteBuffer empty = ByteBuffer.allocateDirect(10).position(10);
    assertThrows(IllegalArgumentException.class, () -> Memory.of(heap));
    assertThrows(IllegalArgumentException.class, () -> Memory.of(heapBuffer));
    assertThrows(IllegalArgumentException.class, () -> Memory.of(empty));
    assertThrows(IllegalArgumentException.class, () -> Memory.host(0, 10));
    assertThrows(IllegalArgumentException.class, () -> Memory.host(0x1000, 0));
    assertThrows(
        IllegalArgumentException.class, () -> Memory.device(MemoryKind.HOST, 1, 0x1000, 10));
    assertThrows(
        IllegalArgumentException.class, () -> Memory.device(MemoryKind.CUDA, -1, 0x1000, 10));
  }
}
