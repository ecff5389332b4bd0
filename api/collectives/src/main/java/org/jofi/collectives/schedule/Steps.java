package org.jofi.collectives.schedule;

import java.util.List;
import org.jspecify.annotations.Nullable;

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

  private final Recording recording;
  private final Part part;
  private final int rank;
  private final int size;

  /**
   * What a part of an algorithm takes for the ranks and for their memory.
   *
   * @param ranks of each rank of the part, its number among all; null if these are all
   * @param input what it takes for the input
   * @param inputAt where that begins
   * @param output what it takes for the output
   * @param outputAt where that begins
   * @param finishes whether it ends reductions
   */
  private record Part(
      @Nullable List<Integer> ranks,
      Place input,
      long inputAt,
      Place output,
      long outputAt,
      boolean finishes) {
    static final Part WHOLE = new Part(null, Place.INPUT, 0, Place.OUTPUT, 0, true);

    int rank(int peer) {
      return ranks == null ? peer : ranks.get(peer);
    }

    Place place(Place of) {
      return switch (of) {
        case INPUT -> input;
        case OUTPUT -> output;
        case SCRATCH -> Place.SCRATCH;
      };
    }

    long at(Place of, long offset) {
      return switch (of) {
        case INPUT -> inputAt + offset;
        case OUTPUT -> outputAt + offset;
        case SCRATCH -> offset;
      };
    }
  }

  /**
   * Of a rank whose input and output are different memory.
   *
   * @param rank whose schedule it is
   * @param size how many ranks there are
   */
  public Steps(int rank, int size) {
    this(new Recording(Recording.APART), Part.WHOLE, rank, size);
  }

  private Steps(Recording recording, Part part, int rank, int size) {
    if (size < 1 || rank < 0 || rank >= size) {
      throw new IllegalArgumentException("rank %d of %d".formatted(rank, size));
    }
    this.recording = recording;
    this.part = part;
    this.rank = rank;
    this.size = size;
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
    return new Steps(new Recording(inputInOutput), Part.WHOLE, rank, size);
  }

  /**
   * {@return the same, for a reduction that is over without {@link #finish}, which is left out}
   * What is written comes after what was written before.
   */
  public Steps unfinished() {
    Part same = new Part(part.ranks, part.input, part.inputAt, part.output, part.outputAt, false);
    return new Steps(recording, same, rank, size);
  }

  /**
   * For a part of an algorithm, which another algorithm writes: some of the ranks, with other
   * memory. What it writes comes after what was written before.
   *
   * @param ranks their numbers here, in the order of their numbers there; this rank is one of them
   * @param input what is the input there
   * @param inputAt its first element
   * @param output what is the output there, on a rank that has one
   * @param outputAt its first element
   * @param finishes whether reductions end there
   */
  Steps part(
      List<Integer> ranks,
      Place input,
      long inputAt,
      Place output,
      long outputAt,
      boolean finishes) {
    return new Steps(
        recording,
        new Part(
            ranks.stream().map(part::rank).toList(),
            part.place(input),
            part.at(input, inputAt),
            part.place(output),
            part.at(output, outputAt),
            finishes && part.finishes),
        ranks.indexOf(rank),
        ranks.size());
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
    return recording.isOne(part.input, part.output);
  }

  /**
   * {@return the first element of memory of the schedule's own}
   *
   * @param elements how much it needs, 0 or more
   */
  public long scratch(long elements) {
    return recording.scratch(elements);
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
      recording.add(
          new Step(
              Step.Kind.SEND,
              checked(peer),
              count,
              part.place(from),
              part.at(from, offset),
              null,
              0,
              null,
              0));
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
      recording.add(
          new Step(
              Step.Kind.RECEIVE,
              checked(peer),
              count,
              null,
              0,
              null,
              0,
              part.place(into),
              part.at(into, offset)));
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
      recording.add(
          new Step(
              Step.Kind.COMBINE,
              NO_PEER,
              count,
              part.place(first),
              part.at(first, firstOffset),
              part.place(second),
              part.at(second, secondOffset),
              part.place(into),
              part.at(into, offset)));
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
    Place source = part.place(from);
    Place target = part.place(into);
    long sourceAt = part.at(from, fromOffset);
    long targetAt = part.at(into, offset);
    if (count > 0 && !recording.isSame(source, sourceAt, target, targetAt)) {
      recording.add(
          new Step(Step.Kind.COPY, NO_PEER, count, source, sourceAt, null, 0, target, targetAt));
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
    if (count > 0 && part.finishes) {
      Place place = part.place(at);
      long begin = part.at(at, offset);
      recording.add(
          new Step(Step.Kind.FINISH, NO_PEER, count, place, begin, null, 0, place, begin));
    }
  }

  private int checked(int peer) {
    if (peer < 0 || peer >= size || peer == rank) {
      throw new IllegalArgumentException("rank %d has no peer %d".formatted(rank, peer));
    }
    return part.rank(peer);
  }

  /** {@return the schedule, which further steps do not change} */
  public Schedule schedule() {
    return recording.schedule(rank, size);
  }
}
