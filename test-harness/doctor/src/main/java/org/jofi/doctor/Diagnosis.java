package org.jofi.doctor;

import java.util.List;
import org.jofi.doctor.machine.Machine;

/**
 * What was found out about a machine.
 *
 * @param machine the machine
 * @param matrix the distances between its GPUs and its NICs
 * @param findings a line for each check, and for each thing that it looked at
 */
public record Diagnosis(Machine machine, TopologyMatrix matrix, List<Finding> findings) {

  public Diagnosis {
    findings = List.copyOf(findings);
  }

  /** How many findings came to that. */
  public long count(Verdict verdict) {
    return findings.stream().filter(finding -> finding.verdict() == verdict).count();
  }

  /** Whether something does not work. */
  public boolean failed() {
    return count(Verdict.FAIL) > 0;
  }
}
