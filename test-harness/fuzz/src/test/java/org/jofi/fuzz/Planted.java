package org.jofi.fuzz;

/** A defect that chance does not find. */
public final class Planted {
  private Planted() {}

  /** Called by the fuzzer for each input. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length > 4 && input[0] == 'j' && input[1] == 'o') {
      if (input[2] == 'f' && input[3] == 'i') {
        throw new IllegalStateException("found");
      }
    }
  }
}
