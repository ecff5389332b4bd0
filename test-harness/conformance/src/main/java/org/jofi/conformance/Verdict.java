package org.jofi.conformance;

import java.util.Locale;

/** How a case ended. No two of them are ever added up. */
public enum Verdict {
  /** The provider keeps the rule. */
  KEPT,
  /** The provider breaks the rule, hangs or crashes. */
  BROKEN,
  /**
   * The rule says nothing of this provider: it does not promise what the rule is about, or the case
   * could not get so far. The result gives the reason.
   */
  NOT_CLAIMED;

  /** In words. */
  public String words() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
