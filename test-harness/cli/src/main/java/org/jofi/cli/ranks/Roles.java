package org.jofi.cli.ranks;

/** What ranks are called, and what helps when they do not meet, in the words of their command. */
public enum Roles {
  /** Of a run of any number. */
  RANKS(
      "start all ranks, and set MASTER_ADDR and MASTER_PORT alike for them; check name and firewall;"
          + " or raise --timeout",
      "set MASTER_PORT to another one for all ranks"),
  /** The two of {@code jofi perf}, each started by itself. */
  SIDES(
      "start it there; check name, port and firewall; or raise --timeout",
      "choose another one with --port here, and with --connect HOST:PORT there");

  private final String remedy;
  private final String portRemedy;

  Roles(String remedy, String portRemedy) {
    this.remedy = remedy;
    this.portRemedy = portRemedy;
  }

  /** What one is called, by whomever. */
  String name(int rank) {
    return this == RANKS
        ? "rank " + rank
        : rank == 0 ? "jofi perf --connect HOST" : "jofi perf --listen";
  }

  /** What to do about one that does not come. */
  String remedy() {
    return remedy;
  }

  /** What to do about a port that cannot be used. */
  String portRemedy() {
    return portRemedy;
  }
}
