package org.jofi.conformance;

import org.jofi.conformance.subject.SimulatedSubject;
import org.jofi.conformance.subject.Subject;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class SimulatedCxiClientKeyTest extends ConformanceSuite {
  @Override
  protected Subject subject() {
    return new SimulatedSubject("cxi-client-key", null);
  }

  @Override
  protected int notClaimed() {
    return 14;
  }
}
