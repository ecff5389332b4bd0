package org.jofi.conformance.rule;

import java.time.Duration;
import org.jofi.conformance.bench.Bench;

/**
 * A rule, and how to see whether a provider keeps it. Immutable.
 *
 * @param area what it is about
 * @param name unique in its area
 * @param rule the rule, with the man page and the section it stands in
 * @param need what a provider must claim for it to apply
 * @param risky whether a provider may be of no use in the process afterwards, though the rule was
 *     kept: such a case is no other's undoing
 * @param bound how long it may take
 * @param body tries it; ends normally if the rule was kept
 */
public record Case(
    Area area, String name, String rule, Need need, boolean risky, Duration bound, Body body) {
  private static final Duration USUAL_BOUND = Duration.ofSeconds(30);

  /** What a case does. */
  @FunctionalInterface
  public interface Body {
    /**
     * Tries the rule.
     *
     * @param bench closed by who called
     * @throws org.jofi.conformance.bench.BrokenRuleException if the rule was broken
     * @throws org.jofi.conformance.bench.NotClaimedException if it turned out that the provider
     *     does not offer what the rule is about
     * @throws InterruptedException if the case took too long
     */
    void run(Bench bench) throws InterruptedException;
  }

  /** A case for every provider, with the usual bound. */
  public static Case of(Area area, String name, String rule, Body body) {
    return new Case(area, name, rule, Need.NOTHING, false, USUAL_BOUND, body);
  }

  /** Area and name, such as {@code rma/read}. */
  public String id() {
    return area.slug() + "/" + name;
  }

  /** This case, for providers that claim that. */
  public Case needing(Need claim) {
    return new Case(area, name, rule, claim, risky, bound, body);
  }

  /** This case, whose process no other relies on. */
  public Case alone() {
    return new Case(area, name, rule, need, true, bound, body);
  }

  /** This case, with another bound. */
  public Case within(Duration longest) {
    return new Case(area, name, rule, need, risky, longest, body);
  }

  @Override
  public String toString() {
    return id();
  }
}
