package org.jofi.conformance;

/** How a case ended. */
public enum Verdict {
  /** The provider keeps the rule. */
  PASSED,
  /** The provider breaks the rule, hangs or crashes. */
  FAILED,
  /** The provider does not promise what the rule is about. */
  NOT_CLAIMED
}
