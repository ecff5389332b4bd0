package org.jofi.cli.soak;

import java.util.List;

/**
 * What the parent tells a rank, as a line of JSON.
 *
 * @param kind what to do
 * @param generation the number of the generation
 * @param seed of the generation's rounds
 * @param rounds how many rounds it has
 * @param host where rank 0 is, outside of the fabric
 * @param port where its bootstrap server listens; 0 for rank 0 itself, which starts it
 * @param secret of the generation
 * @param lost the ranks that were killed
 */
record Order(
    Kind kind,
    int generation,
    long seed,
    int rounds,
    String host,
    int port,
    String secret,
    List<Integer> lost) {

  /** What to do. */
  enum Kind {
    /** Meet the other ranks and run a generation. */
    MEET,
    /** End the generation after this round; to rank 0, which tells the others. */
    FINISH,
    /** The generation failed because ranks were killed: see how, and abort what is left of it. */
    ABORT,
    /** Close everything and end. */
    END
  }

  static Order of(Kind kind, int generation) {
    return new Order(kind, generation, 0, 0, "", 0, "", List.of());
  }

  static Order abort(int generation, List<Integer> lost) {
    return new Order(Kind.ABORT, generation, 0, 0, "", 0, "", List.copyOf(lost));
  }

  /** The same for those who need not start the server. */
  Order at(int servingPort) {
    return new Order(kind, generation, seed, rounds, host, servingPort, secret, lost);
  }
}
