package org.jofi.doctor;

import java.util.Locale;

/** The result of a check. */
public enum Verdict {
  /** As it should be. */
  PASS,
  /** It works, but slower than possible or not for everything; or it could not be determined. */
  WARN,
  /** It does not work, or not reliably. */
  FAIL,
  /** There was nothing to check here; the finding says what is missing. */
  SKIP;

  /** The verdict as a lower-case word. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
