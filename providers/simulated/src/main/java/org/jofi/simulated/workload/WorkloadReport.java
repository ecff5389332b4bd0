package org.jofi.simulated.workload;

import java.util.List;
import java.util.Map;
import org.jofi.simulated.Fault;

/**
 * What came of some runs.
 *
 * @param runs how many there were
 * @param operations posts that were taken, in all
 * @param faults how often each fault struck, in all
 * @param violations contracts that were broken, in all
 * @param failures runs that failed, the first ones
 * @param failed runs that failed, in all
 * @param traceHash hash of all runs' traces, in order
 * @param nanos real time that it took
 */
public record WorkloadReport(
    long runs,
    long operations,
    Map<Fault, Long> faults,
    long violations,
    List<Failure> failures,
    long failed,
    long traceHash,
    long nanos) {

  /**
   * A run that failed.
   *
   * @param seed its seed
   * @param reason what went wrong, with a dump
   * @param reproduce the command line that runs it again
   */
  public record Failure(long seed, String reason, String reproduce) {}

  /** Whether every run went well. */
  public boolean isClean() {
    return failed == 0 && violations == 0;
  }
}
