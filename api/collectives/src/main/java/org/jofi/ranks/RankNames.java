package org.jofi.ranks;

/**
 * What messages call ranks, and what they tell to do when ranks do not find each other. All ranks
 * of a run use the same. Any thread may call it.
 */
@FunctionalInterface
public interface RankNames {
  /** Ranks are called by their numbers. */
  RankNames NUMBERS = rank -> "rank " + rank;

  /**
   * The name of a rank, as any of them understands it.
   *
   * @param rank its number
   * @return its name, to begin or end a phrase with
   */
  String name(int rank);

  /**
   * The name of a rank in the messages of one of them.
   *
   * @param rank its number
   * @param reader the number of the rank that prints it
   * @return its name
   */
  default String name(int rank, int reader) {
    return name(rank);
  }

  /** {@return what all of them are called} */
  default String all() {
    return "the ranks";
  }

  /** {@return what they meet at is called} */
  default String server() {
    return "the bootstrap server";
  }

  /**
   * What to do when others do not come.
   *
   * @param reader the number of the rank that prints it
   * @return phrases with semicolons between
   */
  default String remedy(int reader) {
    return "start all ranks, and set MASTER_ADDR and MASTER_PORT alike for them; check name and"
        + " firewall; or wait longer";
  }

  /** {@return what to do when another program has the server's port} */
  default String portRemedy() {
    return "set MASTER_PORT to another one for all ranks";
  }
}
