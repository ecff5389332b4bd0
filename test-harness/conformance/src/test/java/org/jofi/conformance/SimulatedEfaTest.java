package org.jofi.conformance;

import org.jofi.conformance.subject.SimulatedSubject;
import org.jofi.conformance.subject.Subject;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class SimulatedEfaTest extends ConformanceSuite {
  @Override
  protected Subject subject() {
    return new SimulatedSubject("efa", null);
  }

  @Override
  protected int notClaimed() {
    return 18;
  }
}
