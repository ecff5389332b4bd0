package org.jofi.rdma.schedule;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ControlRotationTest {
  @Test
  void controlGoesRoundTheRailsInUse() {
    ControlRotation control = new ControlRotation(3);
    control.exclude(1);
    int[] turns = new int[4];
    Arrays.setAll(turns, _ -> control.next());
    assertArrayEquals(new int[] {0, 2, 0, 2}, turns);
    control.exclude(0);
    control.exclude(2);
    assertEquals(-1, control.next());
    control.restore(1);
    assertEquals(1, control.next());
  }

  @Test
  void atLeastOneRailIsNeeded() {
    assertThrows(IllegalArgumentException.class, () -> new ControlRotation(0));
  }
}
