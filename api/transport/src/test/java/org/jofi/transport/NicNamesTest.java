package org.jofi.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class NicNamesTest {
  private static final List<String> NICS = List.of("eth0", "eth1", "eth10", "ib0", "docker0");

  private static List<String> admitted(String text) {
    return NICS.stream().filter(NicNames.of(text)::admits).toList();
  }

  @Test
  void namesAreTakenAsNcclTakesThem() {
    assertEquals(NICS, admitted(""));
    assertEquals(List.of("eth0", "eth1", "eth10"), admitted("eth"));
    assertEquals(List.of("eth1", "eth10", "ib0"), admitted("eth1, ib"));
    assertEquals(List.of("eth1"), admitted("=eth1"));
    assertEquals(List.of("eth0", "ib0"), admitted("=ib0,eth0,nope"));
    assertEquals(List.of("eth0", "eth1", "eth10", "ib0"), admitted("^docker,virbr"));
    assertEquals(List.of("eth0", "ib0"), admitted("^eth1,docker"));
    assertEquals(List.of("eth0", "eth10", "ib0", "docker0"), admitted("^=eth1"));
    assertEquals(List.of(), admitted("nope"));
  }

  @Test
  void signsWithoutANameAreRefused() {
    for (String text : List.of("^", "=", "^=", ",", "^ , ")) {
      String words =
          assertThrows(IllegalArgumentException.class, () -> NicNames.of(text)).getMessage();
      assertTrue(words.contains("'" + text + "'"), words);
    }
  }

  @Test
  void equalTextsAreEqual() {
    assertEquals(NicNames.ANY, NicNames.of(" "));
    assertEquals(NicNames.of("^a"), NicNames.of(" ^a "));
    assertEquals(NicNames.of("^a").hashCode(), NicNames.of(" ^a ").hashCode());
    assertEquals("^a", NicNames.of(" ^a ").toString());
  }
}
