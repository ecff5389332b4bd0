package org.jofi.collectives.schedule;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What one rank does in a collective operation: steps, and which of them have to be over before
 * each. Immutable; any thread.
 */
public final class Schedule {
  private final int rank;
  private final int size;
  private final long scratch;
  private final List<Step> steps;
  private final int[] needs;

  /** The steps that wait for a step: those of step i begin at {@code starts[i]}. */
  private final int[] starts;

  private final int[] waiting;

  Schedule(int rank, int size, long scratch, List<Step> steps, List<int[]> earlier) {
    this.rank = rank;
    this.size = size;
    this.scratch = scratch;
    this.steps = List.copyOf(steps);
    needs = new int[steps.size()];
    starts = new int[steps.size() + 1];
    for (int step = 0; step < needs.length; step++) {
      needs[step] = earlier.get(step).length;
      for (int before : earlier.get(step)) {
        starts[before + 1]++;
      }
    }
    Arrays.parallelPrefix(starts, Integer::sum);
    waiting = new int[starts[needs.length]];
    int[] next = starts.clone();
    for (int step = 0; step < needs.length; step++) {
      for (int before : earlier.get(step)) {
        waiting[next[before]++] = step;
      }
    }
  }

  /** {@return whose schedule it is} */
  public int rank() {
    return rank;
  }

  /** {@return how many ranks there are} */
  public int size() {
    return size;
  }

  /** {@return how much memory of its own it needs, in elements} */
  public long scratch() {
    return scratch;
  }

  /** {@return its steps, in the order in which the algorithm named them} */
  public List<Step> steps() {
    return steps;
  }

  /**
   * {@return how many steps have to be over before a step}
   *
   * @param step its index
   */
  public int needs(int step) {
    return needs[step];
  }

  /**
   * {@return the steps that wait for a step, by their index}
   *
   * @param step its index
   */
  public IntStream waiting(int step) {
    return Arrays.stream(waiting, starts[step], starts[step + 1]);
  }

  /**
   * {@return the steps of a kind with a peer, by their index, in order}
   *
   * @param kind {@link Step.Kind#SEND} or {@link Step.Kind#RECEIVE}
   * @param peer the other rank
   */
  public IntStream messages(Step.Kind kind, int peer) {
    return IntStream.range(0, steps.size())
        .filter(step -> steps.get(step).kind() == kind && steps.get(step).peer() == peer);
  }

  /**
   * {@return the ranks that it sends to or receives from, in order}
   *
   * @param kind {@link Step.Kind#SEND} or {@link Step.Kind#RECEIVE}
   */
  public IntStream peers(Step.Kind kind) {
    return steps.stream()
        .filter(step -> step.kind() == kind)
        .mapToInt(Step::peer)
        .distinct()
        .sorted();
  }
}
