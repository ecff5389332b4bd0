package org.jofi.libfabric.peers;

import java.io.IOException;
import java.util.Optional;

/**
 * What a provider fails to do in few runs only. It is not believed to be rare at first sight: the
 * scenario runs again until the rate that is known is told from a frequent one.
 *
 * @param what the lack as it is reported
 * @param seen in so many runs
 * @param runs of so many, all of one version of the library
 */
record RareLack(String what, int seen, int runs) {
  /** A lack of one run in seven, or of more, shows again in so many with 95 percent certainty. */
  static final int MORE_RUNS = 20;

  /** One run of the scenario: what it lacks. */
  @FunctionalInterface
  interface Again {
    Optional<String> run() throws IOException, InterruptedException;
  }

  /**
   * Runs a scenario again that has shown this lack once.
   *
   * @return how often it was seen, in words
   * @throws AssertionError if anything is lacking in one of these runs
   */
  String demandRare(Again scenario) throws IOException, InterruptedException {
    for (int run = 2; run <= MORE_RUNS + 1; run++) {
      Optional<String> lack = scenario.run();
      if (lack.isPresent()) {
        throw new AssertionError(
            "not rare: seen in run 1, and '%s' in run %d; known of %d of %d runs"
                .formatted(lack.get(), run, seen, runs));
      }
    }
    return "seen in 1 of %d runs; known of %d of %d".formatted(MORE_RUNS + 1, seen, runs);
  }
}
