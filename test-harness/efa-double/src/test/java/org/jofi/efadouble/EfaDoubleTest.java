package org.jofi.efadouble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class EfaDoubleTest {
  @Test
  void eachHasAWireOfItsOwn() {
    try (EfaDouble one = EfaDouble.devices(1);
        EfaDouble other = EfaDouble.devices(1)) {
      assertNotEquals(one.wire(), other.wire());
    }
  }

  @Test
  void theEnvironmentHasWhatWasChosen() {
    try (EfaDouble efa = EfaDouble.devices(2).with(Option.DELAY_US, 100)) {
      assertEquals("2", efa.environment().get("EFA_DOUBLE_DEVICES"));
      assertEquals("100", efa.environment().get("EFA_DOUBLE_DELAY_US"));
      assertEquals(efa.wire(), efa.environment().get("EFA_DOUBLE_WIRE"));
      assertEquals(List.of("efa_0-rdm", "efa_1-rdm"), efa.domains());
    }
  }

  @Test
  void aBrokenRuleIsAFailureThatNamesIt() throws IOException {
    try (EfaDouble efa = EfaDouble.devices(1)) {
      assertEquals(List.of(), efa.violations());
      efa.demandNoViolations();
      Files.writeString(
          Path.of(efa.environment().get("EFA_DOUBLE_VIOLATIONS")), "some-rule: it was broken\n");
      assertEquals(List.of("some-rule: it was broken"), efa.violations());
      AssertionError failure = assertThrows(AssertionError.class, efa::demandNoViolations);
      assertTrue(failure.getMessage().contains("some-rule: it was broken"), failure::getMessage);
    }
  }
}
