package org.jofi.libfabric.peers;

import java.io.IOException;
import java.util.Optional;

/**
 * What a provider fails to do in some runs only. It is not believed to be so at first sight: the
 * scenario runs again, and must succeed in more runs than it fails in. The bound is no tighter, as
 * stalls come in clusters: once two of six runs, and none of the 94 that were made to repeat it.
 *
 * @param what the lack as it is reported
 * @param seen in so many runs
 * @param runs of so many, all of one version of the library
 */
record RareLack(String what, int seen, int runs) {
  static final int MORE_RUNS = 10;

  /** One run of the scenario: what it lacks. */
  @FunctionalInterface
  interface Again {
    Optional<String> run() throws IOException, InterruptedException;
  }

  /**
   * Runs a scenario again that has shown this lack once.
   *
   * @return how often it was seen, in words
   * @throws AssertionError if it is seen in half of the runs or more, or anything else is lacking
   */
  String demandRare(Again scenario) throws IOException, InterruptedException {
    int lacking = 1;
    for (int run = 2; run <= MORE_RUNS + 1; run++) {
      Optional<String> lack = scenario.run();
      if (lack.isPresent() && !lack.get().equals(what)) {
        throw new AssertionError("'%s' in run 1, '%s' in run %d".formatted(what, lack.get(), run));
      }
      lacking += lack.isPresent() ? 1 : 0;
    }
    String often =
        "seen in %d of %d runs; known of %d of %d".formatted(lacking, MORE_RUNS + 1, seen, runs);
    if (2 * lacking > MORE_RUNS + 1) {
      throw new AssertionError("'%s' is not rare: %s".formatted(what, often));
    }
    return often;
  }
}
