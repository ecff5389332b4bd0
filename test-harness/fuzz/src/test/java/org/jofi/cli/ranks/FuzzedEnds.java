package org.jofi.cli.ranks;

import org.jofi.ranks.RanksException;

/** Opens what ranks tell of their ends of the fabric to the package of the tests. */
public final class FuzzedEnds {
  private FuzzedEnds() {}

  /** What a rank tells of its end of the fabric. */
  public static void fabricEnd(byte[] bytes) {
    try {
      FabricEnd.read(bytes);
    } catch (RanksException documented) {
      // So it is refused.
    }
  }
}
