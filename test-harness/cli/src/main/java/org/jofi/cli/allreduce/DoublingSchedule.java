package org.jofi.cli.allreduce;

import java.util.ArrayList;
import java.util.List;

/**
 * The schedule of one rank in an all-reduce by recursive doubling: whom it exchanges the whole
 * array with, step by step. It has no side effects.
 *
 * <p>In each step, two ranks send each other their partial sums, and add. After the first step a
 * sum is of 2 ranks, then of 4, then of 8. Both add the same two numbers, and the order of two does
 * not matter to a sum of floats: so all ranks get the same bits.
 *
 * <p>If the number of ranks is no power of two, as many as there are too many fold first: each of
 * them, an even rank, sends its array to the next rank, which adds it. They take no part in the
 * exchanges, and get the result at the end.
 *
 * <pre>
 * 6 ranks           0    1    2    3    4    5
 * fold              0 -> 1    2 -> 3
 * exchange               1 <------ 3    4 <> 5      then 1 <> 4, 3 <> 5
 * return            0 <- 1    2 <- 3
 * </pre>
 */
public final class DoublingSchedule {
  /** What a rank does in a step. */
  public enum Action {
    /** Sends the array, and adds the partner's. */
    EXCHANGE(true, true, true),
    /** Sends the array. */
    SEND(true, false, false),
    /** Adds the partner's array. */
    ADD(false, true, true),
    /** Takes the partner's array in place of its own. */
    REPLACE(false, true, false);

    private final boolean sends;
    private final boolean receives;
    private final boolean adds;

    Action(boolean sends, boolean receives, boolean adds) {
      this.sends = sends;
      this.receives = receives;
      this.adds = adds;
    }

    /** Whether the array is sent. */
    public boolean sends() {
      return sends;
    }

    /** Whether the partner's array is received. */
    public boolean receives() {
      return receives;
    }

    /** Whether the partner's array is added. */
    public boolean adds() {
      return adds;
    }
  }

  /**
   * A step. A rank begins it when the one before is over.
   *
   * @param partner the other rank
   */
  public record Step(int partner, Action action) {}

  private final List<Step> steps;

  /**
   * Makes the schedule.
   *
   * @param rank the rank whose schedule it is
   * @param ranks how many there are, 1 or more
   */
  public DoublingSchedule(int rank, int ranks) {
    if (ranks < 1 || rank < 0 || rank >= ranks) {
      throw new IllegalArgumentException("rank %d of %d".formatted(rank, ranks));
    }
    int exchanging = Integer.highestOneBit(ranks);
    int folded = ranks - exchanging;
    List<Step> all = new ArrayList<>();
    if (rank < 2 * folded && rank % 2 == 0) {
      all.add(new Step(rank + 1, Action.SEND));
      all.add(new Step(rank + 1, Action.REPLACE));
    } else {
      boolean standsForTwo = rank < 2 * folded;
      if (standsForTwo) {
        all.add(new Step(rank - 1, Action.ADD));
      }
      int place = standsForTwo ? rank / 2 : rank - folded;
      for (int distance = 1; distance < exchanging; distance *= 2) {
        int other = place ^ distance;
        all.add(new Step(other < folded ? 2 * other + 1 : other + folded, Action.EXCHANGE));
      }
      if (standsForTwo) {
        all.add(new Step(rank - 1, Action.SEND));
      }
    }
    steps = List.copyOf(all);
  }

  /** Its steps, in order. */
  public List<Step> steps() {
    return steps;
  }

  /** Its partners, each once. */
  public List<Integer> partners() {
    return steps.stream().map(Step::partner).distinct().toList();
  }
}
