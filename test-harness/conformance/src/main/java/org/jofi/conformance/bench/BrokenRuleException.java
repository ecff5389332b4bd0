package org.jofi.conformance.bench;

/** A provider broke the rule that a case is about. */
public final class BrokenRuleException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String expected;
  private final String happened;

  /**
   * @param expected what the rule demands
   * @param happened what came instead
   */
  public BrokenRuleException(String expected, String happened) {
    super("expected %s; %s".formatted(expected, happened));
    this.expected = expected;
    this.happened = happened;
  }

  /** What the rule demands. */
  public String expected() {
    return expected;
  }

  /** What came instead. */
  public String happened() {
    return happened;
  }
}
