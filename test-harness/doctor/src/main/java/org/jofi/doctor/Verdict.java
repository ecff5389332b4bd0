package org.jofi.doctor;

import java.util.Locale;

/** What a check came to. */
public enum Verdict {
  /** As it should be. */
  PASS,
  /** It works, but slower than it could or not for everything; or it could not be found out. */
  WARN,
  /** It does not work, or what works cannot be relied upon. */
  FAIL,
  /** There was nothing to check here; the finding says what is missing. */
  SKIP;

  /** In one lower-case word. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
