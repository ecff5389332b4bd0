package org.jofi.conformance;

import org.jofi.conformance.subject.SimulatedSubject;
import org.jofi.conformance.subject.Subject;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class SimulatedCxiTest extends ConformanceSuite {
  @Override
  protected Subject subject() {
    return new SimulatedSubject("cxi", null);
  }

  @Override
  protected int notClaimed() {
    return 12;
  }
}
