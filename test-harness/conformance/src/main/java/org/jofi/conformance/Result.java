package org.jofi.conformance;

import org.jofi.conformance.rule.Case;

/**
 * How a case ended.
 *
 * @param kase what was tried
 * @param verdict how it ended
 * @param reason why it is not claimed; empty otherwise
 * @param expected what the rule demands; empty unless it was broken
 * @param happened what came instead; empty unless it was broken
 * @param where on which NIC, and at which step of the case; empty unless it was broken
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

  static Result kept(Case kase, long nanos) {
    return new Result(kase, Verdict.KEPT, "", "", "", "", nanos);
  }

  static Result notClaimed(Case kase, String reason, long nanos) {
    return new Result(kase, Verdict.NOT_CLAIMED, reason, "", "", "", nanos);
  }

  static Result broken(Case kase, String expected, String happened, String where, long nanos) {
    return new Result(kase, Verdict.BROKEN, "", expected, happened, where, nanos);
  }

  /** All of it in words, over several lines if the rule was broken. */
  public String describe() {
    return switch (verdict) {
      case KEPT -> kase.id() + ": kept";
      case NOT_CLAIMED -> kase.id() + ": not claimed: " + reason;
      case BROKEN ->
          "%s: BROKEN%n  rule:     %s%n  expected: %s%n  happened: %s%n  where:    %s"
              .formatted(kase.id(), kase.rule(), expected, happened, where);
    };
  }
}
