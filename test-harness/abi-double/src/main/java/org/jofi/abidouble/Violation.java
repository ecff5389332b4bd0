package org.jofi.abidouble;

import java.util.List;

/**
 * A rule that was broken.
 *
 * @param rule which
 * @param call the call that broke it, as the manual page names it
 * @param detail what was wrong with it
 * @param history what had happened to the object by then, oldest first; its most recent events
 */
public record Violation(Rule rule, String call, String detail, List<String> history) {
  public Violation {
    history = List.copyOf(history);
  }

  @Override
  public String toString() {
    return "%s: %s: %s%n  rule: %s%s"
        .formatted(rule, call, detail, rule.source(), String.join("", lines()));
  }

  private List<String> lines() {
    return history.stream().map(line -> "%n  %s".formatted(line)).toList();
  }
}
