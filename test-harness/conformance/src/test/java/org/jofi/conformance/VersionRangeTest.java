package org.jofi.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VersionRangeTest {
  private static final VersionRange RANGE = VersionRange.between("libfabric", "1.17", "2.1");

  @ParameterizedTest
  @ValueSource(strings = {"1.17", "1.17.0", "1.17.5", "1.18", "1.100", "2.0", "2.0.9"})
  void theFirstIsOfARangeAndTheOnesBehindIt(String version) {
    assertTrue(RANGE.covers("libfabric " + version));
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.2", "1.16", "1.16.9", "0.99", "2.1", "2.1.0", "2.10", "3.0"})
  void theOneThatEndsARangeIsNotOfItNorAnyOther(String version) {
    assertFalse(RANGE.covers("libfabric " + version));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "libfabric",
        "libfabric 1",
        "libfabric 1.18rc1",
        "libfabric 1.18.0.1",
        "libfabric  1.18",
        "another libfabric 1.18",
        "simulated fabric",
        "1.18",
        "libfabric 1.99999999999"
      })
  void whatIsNoVersionOfTheLibraryIsOfNoRange(String source) {
    assertFalse(RANGE.covers(source));
    assertFalse(VersionRange.from("libfabric", "0.0").covers(source));
  }

  @Test
  void oneVersionHasAllItsPatches() {
    VersionRange one = VersionRange.only("libfabric", "2.1");
    assertTrue(one.covers("libfabric 2.1") && one.covers("libfabric 2.1.3"));
    assertFalse(one.covers("libfabric 2.0.9") || one.covers("libfabric 2.2"));
    assertFalse(one.covers("libfabric 2.10") || one.covers("libfabric 2.11"));
  }

  @Test
  void anOpenRangeHasNoEnd() {
    VersionRange open = VersionRange.from("libfabric", "1.22");
    assertTrue(open.covers("libfabric 1.22") && open.covers("libfabric 99.0"));
    assertFalse(open.covers("libfabric 1.21.9"));
  }

  @Test
  void rangesSayWhatTheyAre() {
    assertEquals("libfabric from 1.17 to before 2.1", RANGE.toString());
    assertEquals("libfabric 2.1", VersionRange.only("libfabric", "2.1").toString());
    assertEquals("libfabric 1.22.1 and later", VersionRange.from("libfabric", "1.22.1").toString());
  }

  @Test
  void anEmptyRangeIsRefused() {
    assertThrows(
        IllegalArgumentException.class, () -> VersionRange.between("libfabric", "2.1", "2.1"));
    assertThrows(IllegalArgumentException.class, () -> VersionRange.only("libfabric", "two"));
  }
}
