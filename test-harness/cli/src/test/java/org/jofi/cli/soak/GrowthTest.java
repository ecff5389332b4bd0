package org.jofi.cli.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class GrowthTest {
  private static final int PEERS = 1;
  private static final int RAILS = 4;
  private static final Vitals START = new Vitals(10 << 20, 300 << 20, 34, 20, 11, 0, 3, 4096);

  private static String difference(Vitals end) {
    return Growth.of(1, START, end, PEERS, RAILS)
        .firstDifference()
        .map(Growth.Row::toString)
        .orElse("");
  }

  @Test
  void nothingDiffersIfNothingGrew() {
    Growth same = Growth.of(1, START, START, PEERS, RAILS);
    assertEquals(Optional.empty(), same.firstDifference());
    assertEquals(8, same.fields().size());
  }

  @Test
  void eachFigureIsCompared() {
    assertEquals(
        "descriptors, without sockets: 34 at the start, 35 at the end, and should be the same",
        difference(new Vitals(10 << 20, 300 << 20, 35, 20, 11, 0, 3, 4096)));
    assertTrue(
        difference(new Vitals(10 << 20, 300 << 20, 34, 20, 10, 0, 3, 4096)).startsWith("threads"));
    assertTrue(
        difference(new Vitals(10 << 20, 300 << 20, 34, 20, 11, 1, 3, 4096)).startsWith("pinned"));
    assertTrue(
        difference(new Vitals(10 << 20, 300 << 20, 34, 20, 11, 0, 2, 4096))
            .startsWith("registrations"));
    assertTrue(
        difference(new Vitals(10 << 20, 300 << 20, 34, 20, 11, 0, 3, 8192))
            .startsWith("registered bytes"));
  }

  @Test
  void whatMayGrowHasABound() {
    long heap = (10 << 20) + Growth.HEAP_BYTES;
    long resident = (300 << 20) + Growth.RESIDENT_BYTES + RAILS * Growth.RAIL_BYTES;
    int sockets = 20 + 2 * PEERS * RAILS;
    assertEquals("", difference(new Vitals(heap, resident, 34, sockets, 11, 0, 3, 4096)));
    assertTrue(
        difference(new Vitals(heap + 1, resident, 34, sockets, 11, 0, 3, 4096))
            .startsWith("heap bytes"));
    assertTrue(
        difference(new Vitals(heap, resident + 1, 34, sockets, 11, 0, 3, 4096))
            .startsWith("resident bytes"));
    assertTrue(
        difference(new Vitals(heap, resident, 34, sockets + 1, 11, 0, 3, 4096))
            .startsWith("sockets"));
  }

  /** Of several, the first is told: the others may follow from it. */
  @Test
  void theFirstDifferenceIsTold() {
    assertTrue(
        difference(new Vitals(1L << 40, 1L << 40, 34, 20, 12, 0, 3, 4096)).startsWith("threads"));
  }
}
