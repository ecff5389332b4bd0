package org.jofi.cli.allreduce;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostRingMemoryTest {
  private static final int ELEMENTS = 6000;
  private static final int ARRAY_FROM = 3;
  private static final int LANDING_FROM = 5;

  /** Each element is added once, and none beside them changes. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 63, 64, 65, 1023, 1024, 1025, 2048, 5001})
  void adds(int count) {
    long bytes = ELEMENTS * JAVA_FLOAT.byteSize();
    HostRingMemory memory = new HostRingMemory(bytes, bytes);
    for (int i = 0; i < ELEMENTS; i++) {
      memory.array().segment().setAtIndex(JAVA_FLOAT, i, i);
      memory.landing().segment().setAtIndex(JAVA_FLOAT, i, 10_000 + i);
    }
    memory.add(ARRAY_FROM * JAVA_FLOAT.byteSize(), LANDING_FROM * JAVA_FLOAT.byteSize(), count);
    for (int i = 0; i < ELEMENTS; i++) {
      boolean added = i >= ARRAY_FROM && i < ARRAY_FROM + count;
      float expected = added ? i + 10_000 + (i - ARRAY_FROM + LANDING_FROM) : i;
      assertEquals(expected, memory.array().segment().getAtIndex(JAVA_FLOAT, i));
      assertEquals(10_000 + i, memory.landing().segment().getAtIndex(JAVA_FLOAT, i));
    }
    memory.close();
  }
}
