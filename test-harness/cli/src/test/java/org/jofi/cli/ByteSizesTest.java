package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteSizesTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "8, 8",
    "8B, 8",
    "64K, 65536",
    "64k, 65536",
    "1MiB, 1048576",
    "1 MB, 1048576",
    "2GiB, 2147483648",
    "3T, 3298534883328",
    "' 7 ', 7"
  })
  void readsWhatPeopleWrite(String text, long bytes) {
    assertEquals(bytes, ByteSizes.parse(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "K",
        "-1",
        "1.5M",
        "1X",
        "1KK",
        "0x10",
        "12 34",
        "9999999999T",
        "9999999999999999999"
      })
  void refusesTheRest(String text) {
    IllegalArgumentException refusal =
        assertThrows(IllegalArgumentException.class, () -> ByteSizes.parse(text));
    assertTrue(refusal.getMessage().contains("'" + text + "'"), refusal.getMessage());
  }

  @Test
  void readsLists() {
    assertEquals(List.of(4L, 65536L), ByteSizes.list("4,64K"));
    assertThrows(IllegalArgumentException.class, () -> ByteSizes.list("4,,8"));
  }

  @Test
  void readsRanges() {
    assertEquals(List.of(8L, 16L, 32L), ByteSizes.range("8", "32", 2));
    assertEquals(List.of(8L, 24L), ByteSizes.range("8", "71", 3));
    assertEquals(List.of(5L), ByteSizes.range("5", "5", 2));
    assertEquals(List.of(1L << 60), ByteSizes.range("1048576T", "1048577T", 1000));
    assertThrows(IllegalArgumentException.class, () -> ByteSizes.range("9", "8", 2));
    assertThrows(IllegalArgumentException.class, () -> ByteSizes.range("8", "16", 1));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0 B",
    "12, 12 B",
    "1023, 1023 B",
    "1024, 1 KiB",
    "1025, 1025 B",
    "3145728, 3 MiB"
  })
  void writesThemExactly(long bytes, String text) {
    assertEquals(text, ByteSizes.format(bytes));
  }
}
