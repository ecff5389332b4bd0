package org.jofi.conformance;

/**
 * A rule that a provider is known to break in certain versions of its library, and what jofi does
 * about it.
 *
 * @param provider as results call it
 * @param versions those in which it was seen
 * @param caseId the case that fails
 * @param rate how often it was seen
 * @param lack what the provider does
 * @param remedy what jofi does about it
 */
public record KnownFailure(
    String provider, VersionRange versions, String caseId, Rate rate, String lack, String remedy) {

  /**
   * How often a rule was broken.
   *
   * @param broken in so many runs
   * @param runs of so many
   */
  public record Rate(int broken, int runs) {
    /** In every run. */
    static final Rate ALWAYS = new Rate(1, 1);

    public Rate {
      if (broken < 1 || broken > runs) {
        throw new IllegalArgumentException(broken + " of " + runs);
      }
    }

    /** Whether a run in which the rule is kept tells that something has changed. */
    public boolean isAlways() {
      return broken == runs;
    }

    @Override
    public String toString() {
      return isAlways() ? "in every run" : "in %d of %d runs".formatted(broken, runs);
    }
  }

  /** Whether it is one of what was examined: of exactly that provider and version. */
  boolean isOf(Report.Description examined) {
    return provider.equals(examined.subject()) && versions.covers(examined.source());
  }
}
