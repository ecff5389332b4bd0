package org.jofi.cli;

import org.jofi.ranks.RanksException;

/** Opens what ranks tell of their rails to the package of the tests. */
public final class FuzzedRails {
  private FuzzedRails() {}

  /** What another rank told. */
  public static void railsUp(byte[] bytes) {
    try {
      RailsUp.parse(1, bytes);
    } catch (RanksException documented) {
      // So it is refused.
    }
  }
}
