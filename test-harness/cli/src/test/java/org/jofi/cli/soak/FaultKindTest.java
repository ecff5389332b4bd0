package org.jofi.cli.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FaultKindTest {
  @Test
  void listsAreRead() {
    assertEquals(Set.of(), FaultKind.parse("none"));
    assertEquals(EnumSet.allOf(FaultKind.class), FaultKind.parse("All"));
    assertEquals(Set.of(FaultKind.KILL, FaultKind.CUT), FaultKind.parse("kill, CUT"));
    assertEquals(
        EnumSet.allOf(FaultKind.class),
        FaultKind.parse(FaultKind.texts(EnumSet.allOf(FaultKind.class))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "cut,", "none,cut", "all,cut", "cuts"})
  void whatIsNoListIsRefusedWithWhatThereIs(String list) {
    String words =
        assertThrows(IllegalArgumentException.class, () -> FaultKind.parse(list)).getMessage();
    assertTrue(words.contains("cut,blackhole,loss,slow,stop,kill"), words);
  }
}
