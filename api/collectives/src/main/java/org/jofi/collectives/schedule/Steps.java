package org.jofi.collectives.schedule;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Writes the schedule of one rank. An algorithm calls this as if each step were over before the
 * next one begins: it need not say what has to wait for what, since a step waits for the earlier
 * ones that wrote what it reads or overwrites, or read what it overwrites. All else runs at once,
 * so that several chunks are in flight.
 *
 * <p>Lengths and offsets are in elements. A step of no elements is left out. The n-th message that
 * a rank sends to another is the n-th that the other receives from it: algorithms of both have to
 * name them in the same order, with the same lengths. For one thread.
 */
public final class Steps {
  private static final int NO_PEER = -1;

  private final int rank;
  private final int size;
  private final long inputInOutput;
  private final List<Step> steps = new ArrayList<>();
  private final List<int[]> needs = new ArrayList<>();
  private final Map<Place, Uses> uses = new EnumMap<>(Place.class);
  private long scratch;

  /**
   * Of a rank whose input and output are different memory.
   *
   * @param rank whose schedule it is
   * @param size how many ranks there are
   */
  public Steps(int rank, int size) {
    this(rank, size, Long.MIN_VALUE);
  }

  private Steps(int rank, int size, long inputInOutput) {
    if (size < 1 || rank < 0 || rank >= size) {
      throw new IllegalArgumentException("rank %d of %d".formatted(rank, size));
    }
    this.rank = rank;
    this.size = size;
    this.inputInOutput = inputInOutput;
  }

  /**
   * {@return the steps of a rank whose input and output share memory}
   *
   * @param rank whose schedule it is
   * @param size how many ranks there are
   * @param inputInOutput where the input begins in the output, in elements; negative if the output
   *     begins after it, in the input
   */
  public static Steps sharing(int rank, int size, long inputInOutput) {
    return new Steps(rank, size, inputInOutput);
  }

  /** {@return whose schedule it is} */
  public int rank() {
    return rank;
  }

  /** {@return how many ranks there are} */
  public int size() {
    return size;
  }

  /** {@return whether input and output share memory} */
  public boolean isShared() {
    return inputInOutput != Long.MIN_VALUE;
  }

  /**
   * {@return the first element of memory of the schedule's own}
   *
   * @param elements how much it needs, 0 or more
   */
  public long scratch(long elements) {
    if (elements < 0) {
      throw new IllegalArgumentException("scratch of %d elements".formatted(elements));
    }
    long at = scratch;
    scratch += elements;
    return at;
  }

  /**
   * Sends to a rank.
   *
   * @param peer another rank
   * @param from where the elements are
   * @param offset the first of them
   * @param count how many
   */
  public void send(int peer, Place from, long offset, long count) {
    if (count > 0) {
      add(new Step(Step.Kind.SEND, checked(peer), count, from, offset, null, 0, null, 0));
    }
  }

  /**
   * Receives from a rank.
   *
   * @param peer another rank
   * @param into where the elements go
   * @param offset the first of them
   * @param count how many
   */
  public void receive(int peer, Place into, long offset, long count) {
    if (count > 0) {
      add(new Step(Step.Kind.RECEIVE, checked(peer), count, null, 0, null, 0, into, offset));
    }
  }

  /**
   * Combines elements of two places by the operation's reduction; what is combined may be where the
   * result goes.
   *
   * @param first where the elements of the one summand are
   * @param firstOffset the first of them
   * @param second where the elements of the other are
   * @param secondOffset the first of them
   * @param into where the result goes
   * @param offset its first element
   * @param count how many
   */
  public void combine(
      Place first,
      long firstOffset,
      Place second,
      long secondOffset,
      Place into,
      long offset,
      long count) {
    if (count > 0) {
      add(
          new Step(
              Step.Kind.COMBINE,
              NO_PEER,
              count,
              first,
              firstOffset,
              second,
              secondOffset,
              into,
              offset));
    }
  }

  /**
   * Copies elements; leaves it out if they are where they should be.
   *
   * @param from where they are
   * @param fromOffset the first of them
   * @param into where they go
   * @param offset the first of them
   * @param count how many
   */
  public void copy(Place from, long fromOffset, Place into, long offset, long count) {
    if (count > 0
        && !(memory(from) == memory(into) && begin(from, fromOffset) == begin(into, offset))) {
      add(new Step(Step.Kind.COPY, NO_PEER, count, from, fromOffset, null, 0, into, offset));
    }
  }

  /**
   * Ends a reduction of elements of all ranks, in place: an average is divided by the number of
   * ranks here. All other reductions are over without it.
   *
   * @param at where the elements are
   * @param offset the first of them
   * @param count how many
   */
  public void finish(Place at, long offset, long count) {
    if (count > 0) {
      add(new Step(Step.Kind.FINISH, NO_PEER, count, at, offset, null, 0, at, offset));
    }
  }

  private int checked(int peer) {
    if (peer < 0 || peer >= size || peer == rank) {
      throw new IllegalArgumentException("rank %d has no peer %d".formatted(rank, peer));
    }
    return peer;
  }

  private void add(Step step) {
    int index = steps.size();
    TreeSet<Integer> earlier = new TreeSet<>();
    Place first = step.first();
    if (first != null) {
      of(first).read(begin(first, step.firstOffset()), step.count(), index, earlier);
    }
    Place second = step.second();
    if (second != null) {
      of(second).read(begin(second, step.secondOffset()), step.count(), index, earlier);
    }
    Place into = step.into();
    if (into != null) {
      of(into).write(begin(into, step.intoOffset()), step.count(), index, earlier);
    }
    earlier.remove(index);
    steps.add(step);
    needs.add(earlier.stream().mapToInt(Integer::intValue).toArray());
  }

  private Uses of(Place place) {
    return uses.computeIfAbsent(memory(place), any -> new Uses());
  }

  private Place memory(Place place) {
    return place == Place.INPUT && isShared() ? Place.OUTPUT : place;
  }

  private long begin(Place place, long offset) {
    return place == Place.INPUT && isShared() ? offset + inputInOutput : offset;
  }

  /** {@return the schedule, which further steps do not change} */
  public Schedule schedule() {
    return new Schedule(rank, size, scratch, steps, needs);
  }
}
