package org.jofi.libfabric.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RareLackTest {
  private static final RareLack STALL = new RareLack("stalls", 2, 800);

  private int ran;

  @Test
  void whatIsNotSeenAgainIsRare() throws Exception {
    String text =
        STALL.demandRare(
            () -> {
              ran++;
              return Optional.empty();
            });
    assertEquals("seen in 1 of 21 runs; known of 2 of 800", text);
    assertEquals(RareLack.MORE_RUNS, ran);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 20})
  void whatIsSeenAgainIsNot(int which) {
    AssertionError frequent =
        assertThrows(
            AssertionError.class,
            () ->
                STALL.demandRare(() -> ++ran == which ? Optional.of("stalls") : Optional.empty()));
    assertTrue(
        String.valueOf(frequent.getMessage())
            .contains("'stalls' in run %d; known of 2 of 800 runs".formatted(which + 1)),
        frequent::getMessage);
  }

  @Test
  void anotherLackIsNotExcused() {
    assertThrows(AssertionError.class, () -> STALL.demandRare(() -> Optional.of("loses bytes")));
  }
}
