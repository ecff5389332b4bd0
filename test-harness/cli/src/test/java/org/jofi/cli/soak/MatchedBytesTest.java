package org.jofi.cli.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jofi.cli.verify.BytePattern;
import org.junit.jupiter.api.Test;

class MatchedBytesTest {
  private static final BytePattern PATTERN = new BytePattern(9);
  private static final int FROM = 8;
  private static final int LENGTH = 16;

  private final MemorySegment memory = MemorySegment.ofArray(new byte[32]);

  private void arrive() {
    PATTERN.fillBefore(memory, 0);
    for (long i = FROM; i < FROM + LENGTH; i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, PATTERN.sent(i));
    }
  }

  private void check() {
    MatchedBytes.check(memory, FROM, LENGTH, PATTERN, "a message");
  }

  @Test
  void eachByteThatIsWrongIsFound() {
    for (long i = 0; i < memory.byteSize(); i++) {
      arrive();
      check();
      byte right = memory.get(ValueLayout.JAVA_BYTE, i);
      memory.set(ValueLayout.JAVA_BYTE, i, (byte) ~right);
      String words = assertThrows(WrongDataException.class, this::check).getMessage();
      boolean arrived = i >= FROM && i < FROM + LENGTH;
      assertEquals(
          "a message: byte %d of 32 is 0x%02x, not 0x%02x%s"
              .formatted(
                  i,
                  (byte) ~right,
                  right,
                  arrived ? ": nothing arrived there" : "; nothing was to be written there"),
          words);
    }
  }
}
