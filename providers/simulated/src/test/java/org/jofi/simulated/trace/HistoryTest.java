package org.jofi.simulated.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** What histories keep. */
class HistoryTest {
  @Test
  void theFirstAndTheLastLinesStay() {
    History history = new History(new Clock.Virtual(), "queue #1");
    history.add("opened", 0);
    for (int i = 1; i < 100; i++) {
      history.add("posted", i);
    }
    String text = history.describe();
    assertTrue(text.startsWith("  0 ns queue #1: opened 0\n  88 more\n"), text);
    assertTrue(text.endsWith("posted 98\n  0 ns queue #1: posted 99\n"), text);
    assertEquals(13, text.lines().count(), text);
  }

  @Test
  void moreThanTwoBillionLinesAreNoMatter() {
    History history = new History(new Clock.Virtual(), "endpoint #2", Integer.MAX_VALUE - 5L);
    for (int i = 0; i < 30; i++) {
      history.add("fi_write", i);
    }
    String text = history.describe();
    assertTrue(text.endsWith("fi_write 28\n  0 ns endpoint #2: fi_write 29\n"), text);
    assertTrue(text.contains(" 2147483660 more\n"), text);
  }
}
