package org.jofi.cli.soak;

/** Something did not hold; the run ends. */
final class DifferenceException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Difference difference;

  DifferenceException(Difference difference) {
    super(difference.what());
    this.difference = difference;
  }

  Difference difference() {
    return difference;
  }
}
