package org.jofi.cli.soak;

/** Opens what a soak and its ranks read to the package of the tests. */
public final class FuzzedSoak {
  private FuzzedSoak() {}

  /** A line as the one and as the other reads it. */
  public static void line(String text) {
    Lines.read(text, Order.class);
    Lines.read(text, Report.class);
  }
}
