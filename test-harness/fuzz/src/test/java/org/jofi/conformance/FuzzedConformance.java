package org.jofi.conformance;

/** Opens what the conformance kit reads of its children to the package of the tests. */
public final class FuzzedConformance {
  private FuzzedConformance() {}

  /** A line that a child, or the provider in it, printed. */
  public static void line(String text) {
    Wire.parse(text)
        .filter(message -> message.word().equals(Wire.DESCRIPTION))
        .ifPresent(Wire::description);
  }
}
