package org.jofi.cli.ranks;

/** How a command names its ranks, and what it tells users to do when they cannot connect. */
public enum Roles {
  /** The ranks of a run with any number of them. */
  RANKS(
      "start all ranks, and set MASTER_ADDR and MASTER_PORT alike for them; check name and firewall;"
          + " or raise --timeout",
      "set MASTER_PORT to another one for all ranks"),
  /** The two ranks of {@code jofi perf}, which the user starts separately. */
  SIDES(
      "start it there; check name, port and firewall; or raise --timeout",
      "choose another one with --port here, and with --connect HOST:PORT there");

  private final String remedy;
  private final String portRemedy;

  Roles(String remedy, String portRemedy) {
    this.remedy = remedy;
    this.portRemedy = portRemedy;
  }

  /** The name of a rank. */
  String name(int rank) {
    return this == RANKS
        ? "rank " + rank
        : rank == 0 ? "jofi perf --connect HOST" : "jofi perf --listen";
  }

  /** What to do if a rank does not join. */
  String remedy() {
    return remedy;
  }

  /** What to do if the port cannot be used. */
  String portRemedy() {
    return portRemedy;
  }
}
