package org.jofi.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class ReceiveGroupTest {

  /** Whether there are too many is the communicator's to say. */
  @Test
  void keepsWhatIsAddedInItsOrder() {
    ReceiveGroup group = new ReceiveGroup();
    for (int turn = 0; turn < 2; turn++) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment segment = arena.allocate(100);
        for (int i = 0; i < 20; i++) {
          assertSame(group, i == 7 ? group.add(segment, 9) : group.add(segment, i, 10 + i, -i));
        }
        assertEquals(20, group.size());
        for (int i = 0; i < 20; i++) {
          assertSame(segment, group.segment(i));
          assertNull(group.registration(i));
          assertEquals(i == 7 ? 0 : i, group.offset(i));
          assertEquals(i == 7 ? 100 : 10 + i, group.lengthBytes(i));
          assertEquals(i == 7 ? 9 : -i, group.tag(i));
        }
        assertThrows(IndexOutOfBoundsException.class, () -> group.tag(20));
        group.clear();
        assertEquals(0, group.size());
        assertThrows(IndexOutOfBoundsException.class, () -> group.segment(0));
      }
    }
  }
}
