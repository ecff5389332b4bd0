package org.jofi.cli.ranks;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The ranks that a rank exchanges messages with, in both directions, besides its neighbours in the
 * ring. Mutual: a rank is a partner of its partners. All ranks have the same.
 */
@FunctionalInterface
public interface Partners {
  /** The neighbours in the ring are enough. */
  Partners NONE = (rank, ranks) -> List.of();

  /** The partners of a rank, each once, in any order that is always the same. */
  List<Integer> of(int rank, int ranks);

  /** Whom a rank connects to: the next rank in the ring, then its partners. */
  default List<Integer> outgoing(int rank, int ranks) {
    return with((rank + 1) % ranks, rank, ranks);
  }

  /** Whom a rank accepts: the previous rank in the ring, then its partners. */
  default List<Integer> incoming(int rank, int ranks) {
    return with(Math.floorMod(rank - 1, ranks), rank, ranks);
  }

  private List<Integer> with(int neighbour, int rank, int ranks) {
    Set<Integer> peers = new LinkedHashSet<>();
    peers.add(neighbour);
    peers.addAll(of(rank, ranks));
    return new ArrayList<>(peers);
  }
}
