package org.jofi.cli.perf;

import org.jofi.ranks.RanksException;

/** Opens what ranks tell of a measurement to the package of the tests. */
public final class FuzzedPerf {
  private FuzzedPerf() {}

  /** What another rank measured. */
  public static void measured(byte[] bytes) {
    try {
      PerfRow.Measured.decode(bytes);
    } catch (RanksException documented) {
      // So it is refused.
    }
  }
}
