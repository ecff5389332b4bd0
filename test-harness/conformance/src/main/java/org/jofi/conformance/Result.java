package org.jofi.conformance;

/**
 * How a case ended.
 *
 * @param kase what was tried
 * @param verdict how it ended
 * @param reason why it is not claimed; empty otherwise
 * @param expected what the rule demands, for a failure; empty otherwise
 * @param happened what came instead; empty unless it failed
 * @param where on which NIC, and at which step of the case; empty unless it failed
 * @param nanos how long it took
 */
public record Result(
    Case kase,
    Verdict verdict,
    String reason,
    String expected,
    String happened,
    String where,
    long nanos) {

  static Result passed(Case kase, long nanos) {
    return new Result(kase, Verdict.PASSED, "", "", "", "", nanos);
  }

  static Result notClaimed(Case kase, String reason, long nanos) {
    return new Result(kase, Verdict.NOT_CLAIMED, reason, "", "", "", nanos);
  }

  static Result failed(Case kase, String expected, String happened, String where, long nanos) {
    return new Result(kase, Verdict.FAILED, "", expected, happened, where, nanos);
  }

  /** All of it in words, over several lines for a failure. */
  public String describe() {
    return switch (verdict) {
      case PASSED -> kase.id() + ": passed";
      case NOT_CLAIMED -> kase.id() + ": not claimed: " + reason;
      case FAILED ->
          "%s: FAILED%n  rule:     %s%n  expected: %s%n  happened: %s%n  where:    %s"
              .formatted(kase.id(), kase.rule(), expected, happened, where);
    };
  }
}
