package org.jofi.fuzz;

import java.io.IOException;
import java.util.Arrays;

/** All targets behind one door, as a fuzzer calls it: the first byte says which. */
public final class Guided {
  private static final Target[] TARGETS = Target.values();

  private Guided() {}

  /** Called by the fuzzer for each input. */
  public static void fuzzerTestOneInput(byte[] input) throws IOException {
    if (input.length > 0) {
      TARGETS[(input[0] & 0xff) % TARGETS.length].read(Arrays.copyOfRange(input, 1, input.length));
    }
  }

  /** An input for a target. */
  static byte[] input(Target target, byte[] bytes) {
    byte[] input = new byte[bytes.length + 1];
    input[0] = (byte) Arrays.asList(TARGETS).indexOf(target);
    System.arraycopy(bytes, 0, input, 1, bytes.length);
    return input;
  }
}
