package org.jofi.cli.ranks;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jofi.cli.ranks.FabricEnd.Rail;
import org.jofi.ranks.Ranks;

/**
 * The rails that all ranks have, where they have unequal NICs: rail i of one is connected to rail i
 * of another, so that each uses as many, in an order in which they reach each other. All ranks
 * compute the same.
 *
 * @param told by rank, what it chose, with all of its rails
 * @param chosen by rank, which of its rails are used, in their order
 */
public record CommonRails(List<FabricEnd> told, List<List<Integer>> chosen) {
  private static final int MOST_LISTED = 8;

  public CommonRails {
    told = List.copyOf(told);
    chosen = chosen.stream().map(List::copyOf).toList();
  }

  /**
   * Those in a subnet that all are in, in the order of rank 0. If there is none, routes may join
   * them: then as many as the rank with the fewest has. Nothing changes for ranks with equally many
   * in subnets that differ.
   *
   * @param ends by rank, what it chose
   */
  static CommonRails of(List<FabricEnd> ends) {
    List<List<Integer>> paired = new ArrayList<>();
    ends.forEach(_ -> paired.add(new ArrayList<>()));
    for (Rail rail : ends.getFirst().rails()) {
      List<Integer> row = new ArrayList<>();
      for (int rank = 0; rank < ends.size(); rank++) {
        int found = unused(ends.get(rank).rails(), rail.subnet(), paired.get(rank));
        if (found < 0) {
          break;
        }
        row.add(found);
      }
      if (row.size() == ends.size()) {
        for (int rank = 0; rank < ends.size(); rank++) {
          paired.get(rank).add(row.get(rank));
        }
      }
    }
    int fewest = ends.stream().mapToInt(end -> end.rails().size()).min().orElse(0);
    int most = ends.stream().mapToInt(end -> end.rails().size()).max().orElse(0);
    int common = paired.getFirst().size();
    if (common == 0 || (fewest == most && common < fewest)) {
      List<Integer> first = IntStream.range(0, fewest).boxed().toList();
      return new CommonRails(ends, ends.stream().map(_ -> first).toList());
    }
    return new CommonRails(ends, paired);
  }

  private static int unused(List<Rail> rails, String subnet, List<Integer> used) {
    return IntStream.range(0, rails.size())
        .filter(rail -> !used.contains(rail) && rails.get(rail).subnet().equals(subnet))
        .findFirst()
        .orElse(-1);
  }

  /** What each rank chose, with the rails that are used alone. */
  public List<FabricEnd> ends() {
    return IntStream.range(0, told.size())
        .mapToObj(
            rank ->
                told.get(rank)
                    .with(chosen.get(rank).stream().map(told.get(rank).rails()::get).toList()))
        .toList();
  }

  /** Whether a rank uses all of its rails, in its own order. */
  public boolean isUnchanged(int rank) {
    return ends().get(rank).equals(told.get(rank));
  }

  /** The NICs that a rank uses, as {@link RankDevice#open} takes names. */
  public String names(int rank) {
    return ends().get(rank).rails().stream()
        .map(Rail::nic)
        .collect(Collectors.joining(",", "=", ""));
  }

  /**
   * What is left out, for a rank's user: the first rank tells of all, the others of themselves.
   *
   * @return a sentence; empty if there is nothing to tell
   */
  public Optional<String> leftOut(Ranks bootstrap) {
    String idle =
        IntStream.range(0, told.size())
            .filter(rank -> bootstrap.rank() == 0 || bootstrap.rank() == rank)
            .filter(rank -> !idle(rank).isEmpty())
            .limit(MOST_LISTED)
            .mapToObj(
                rank ->
                    "%n  %s at %s: %s"
                        .formatted(
                            bootstrap.name(rank),
                            told.get(rank).host(),
                            idle(rank).stream().map(Rail::words).collect(Collectors.joining("; "))))
            .collect(Collectors.joining());
    return idle.isEmpty()
        ? Optional.empty()
        : Optional.of(
            Guide.CONNECTIONS.after(
                "%d rail(s) are common to all; these NICs are left out, since not all have their like:%s"
                    .formatted(chosen.getFirst().size(), idle)));
  }

  private List<Rail> idle(int rank) {
    List<Rail> rails = told.get(rank).rails();
    return IntStream.range(0, rails.size())
        .filter(rail -> !chosen.get(rank).contains(rail))
        .mapToObj(rails::get)
        .toList();
  }
}
