package org.jofi.simulated.contract;

/**
 * A program broke a contract of the fabric. It says which contract, where it is documented, and
 * what happened before.
 */
public final class ContractViolationException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final Rule rule;
  private final String call;
  private final String history;

  /** The call broke the rule; the history is that of the object that it was made on. */
  public ContractViolationException(Rule rule, String call, String detail, String history) {
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

  /** Where the contract is documented. */
  public String manPage() {
    return rule.manPage();
  }

  /** What happened to the object, one line per event, oldest first. */
  public String history() {
    return history;
  }
}
