package org.jofi.simulated;

/** A program broke a contract of the fabric: which, where it stands, and what went before. */
public final class ContractViolationException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final Rule rule;
  private final String call;
  private final String history;

  ContractViolationException(Rule rule, String call, String detail, String history) {
    super(
        "%s broke %s: %s (%s). %s.%nHistory:%n%s"
            .formatted(call, rule, rule.text(), rule.manPage(), detail, history));
    this.rule = rule;
    this.call = call;
    this.history = history;
  }

  /** The contract. */
  public Rule rule() {
    return rule;
  }

  /** The call that broke it, by its man-page name. */
  public String call() {
    return call;
  }

  /** Where the contract stands. */
  public String manPage() {
    return rule.manPage();
  }

  /** What happened to the object, oldest first, a line each. */
  public String history() {
    return history;
  }
}
