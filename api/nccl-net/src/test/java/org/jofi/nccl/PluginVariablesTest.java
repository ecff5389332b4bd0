package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PluginVariablesTest {
  @Test
  void whatIsMisspeltIsToldWithTheNearest() {
    assertEquals(
        List.of(
            "JOFI_MAXRAILS is no variable that is known, and is ignored; the nearest is JOFI_MAX_RAILS",
            "JOFI_PROVIDERS is no variable that is known, and is ignored; the nearest is JOFI_PROVIDER"),
        PluginVariables.unknown(
            Map.of(
                "JOFI_PROVIDERS", "efa", "JOFI_MAXRAILS", "2", "JOFI_FLUSH", "auto", "HOME", "/")));
    assertEquals(List.of(), PluginVariables.unknown(Map.of("JOFI_JVM_OPTS", "", "XJOFI_", "")));
  }

  @Test
  void distancesAreInLetters() {
    assertEquals(0, PluginVariables.distance("abc", "abc"));
    assertEquals(1, PluginVariables.distance("abc", "abxc"));
    assertEquals(1, PluginVariables.distance("abc", "adc"));
    assertEquals(3, PluginVariables.distance("", "abc"));
    assertEquals(2, PluginVariables.distance("JOFI_NIC", "JOFI_NICSS"));
  }
}
