package org.jofi.cli.ranks;

import org.jofi.ranks.Placement;
import org.jofi.ranks.RankNames;

/** How a command names its ranks, and what it tells users to do when they cannot connect. */
public enum Roles implements RankNames {
  /** The ranks of a run with any number of them. */
  RANKS,
  /** The two ranks of {@code jofi perf}, which the user starts separately. */
  SIDES;

  /** The origin of the rank that waits for the other. */
  public static final String LISTENS = "--listen";

  /** The origin of the rank that connects to the other. */
  public static final String CONNECTS = "--connect";

  /** How the ranks of a placement are named. */
  public static Roles of(Placement placement) {
    String origin = placement.origin();
    return origin.equals(LISTENS) || origin.equals(CONNECTS) ? SIDES : RANKS;
  }

  @Override
  public String name(int rank) {
    return this == RANKS
        ? RankNames.NUMBERS.name(rank)
        : rank == 0 ? "jofi perf --connect HOST" : "jofi perf --listen";
  }

  @Override
  public String name(int rank, int reader) {
    if (this == RANKS) {
      return name(rank);
    }
    return rank == reader ? "this side" : "the other side (%s)".formatted(name(rank));
  }

  @Override
  public String all() {
    return this == RANKS ? RankNames.super.all() : "the two sides";
  }

  @Override
  public String server() {
    return this == RANKS ? RankNames.super.server() : name(1);
  }

  @Override
  public String remedy(int reader) {
    return this == RANKS
        ? "start all ranks, and set MASTER_ADDR and MASTER_PORT alike for them; check name and"
            + " firewall; or raise --timeout"
        : "start %s there first; check name, port and firewall; or raise --timeout"
            .formatted(name(1 - reader));
  }

  @Override
  public String portRemedy() {
    return this == RANKS
        ? RankNames.super.portRemedy()
        : "choose another one with --port here, and with --connect HOST:PORT there";
  }
}
