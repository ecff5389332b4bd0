package org.jofi.libfabric.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RareLackTest {
  private static final RareLack STALL = new RareLack("stalls", 2, 800);

  private int ran;

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4})
  void whatIsSeenInFewRunsIsRare(int more) throws Exception {
    String text = STALL.demandRare(() -> seenIn(more));
    assertEquals("seen in %d of 11 runs; known of 2 of 800".formatted(more + 1), text);
    assertEquals(RareLack.MORE_RUNS, ran);
  }

  @ParameterizedTest
  @ValueSource(ints = {5, 10})
  void whatIsSeenInMostRunsIsNot(int more) {
    AssertionError frequent =
        assertThrows(AssertionError.class, () -> STALL.demandRare(() -> seenIn(more)));
    assertEquals(
        "'stalls' is not rare: seen in %d of 11 runs; known of 2 of 800".formatted(more + 1),
        frequent.getMessage());
  }

  private Optional<String> seenIn(int runs) {
    return ++ran <= runs ? Optional.of("stalls") : Optional.empty();
  }

  @Test
  void anotherLackIsNotExcused() {
    assertThrows(AssertionError.class, () -> STALL.demandRare(() -> Optional.of("loses bytes")));
  }
}
