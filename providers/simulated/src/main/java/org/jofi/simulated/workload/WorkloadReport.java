package org.jofi.simulated.workload;

import java.util.List;
import java.util.Map;
import org.jofi.simulated.fault.Fault;

/**
 * The result of several runs.
 *
 * @param runs how many runs there were
 * @param operations how many posts were accepted in total
 * @param faults how often each fault happened in total
 * @param violations how many contracts were broken in total
 * @param failures the first runs that failed
 * @param failed how many runs failed in total
 * @param traceHash hash of the traces of all runs, in order
 * @param nanos real time that the runs took
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
   * @param reproduce the command line that repeats it
   */
  public record Failure(long seed, String reason, String reproduce) {}

  /** Whether every run succeeded. */
  public boolean isClean() {
    return failed == 0 && violations == 0;
  }
}
