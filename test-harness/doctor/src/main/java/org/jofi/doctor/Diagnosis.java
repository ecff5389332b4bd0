package org.jofi.doctor;

import java.util.List;
import org.jofi.doctor.machine.Machine;

/**
 * The result of examining a machine.
 *
 * @param machine the machine
 * @param matrix the distances between its GPUs and its NICs
 * @param findings one finding or more for each check
 */
public record Diagnosis(Machine machine, TopologyMatrix matrix, List<Finding> findings) {

  public Diagnosis {
    findings = List.copyOf(findings);
  }

  /** How many findings have this verdict. */
  public long count(Verdict verdict) {
    return findings.stream().filter(finding -> finding.verdict() == verdict).count();
  }

  /** Whether any finding has the verdict FAIL. */
  public boolean failed() {
    return count(Verdict.FAIL) > 0;
  }
}
