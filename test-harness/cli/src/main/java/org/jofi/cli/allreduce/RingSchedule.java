package org.jofi.cli.allreduce;

/**
 * The schedule of one rank in a ring all-reduce, which sums an array over all ranks in place. It
 * lists the sends to the next rank and the receives from the previous one, both in order, and what
 * each has to wait for. It has no side effects.
 *
 * <p>The array is divided into as many segments as there are ranks. In the first half of the steps,
 * reduce-scatter, each segment goes once round the ring and each rank adds its own part, so that at
 * the end rank r has the sum of segment r + 1. In the second half, all-gather, the sums go round.
 *
 * <pre>
 *                     sends segment      receives segment    modulo ranks
 * reduce-scatter t    rank - t           rank - t - 1, adds  t from 0 up to, without, ranks - 1
 * all-gather t        rank - t + 1       rank - t
 * </pre>
 *
 * <p>A rank sends in each step what it received in the step before. Each segment is divided into
 * chunks that are sent independently, so that one is added while others are on the network. All
 * ranks divide in the same way: the sends of a rank are the receives of the next, in the same order
 * and with the same lengths.
 */
public final class RingSchedule {
  private static final int NOTHING = -1;

  private final long[] sendOffsets;
  private final int[] sendCounts;
  private final int[] sendNeeds;
  private final long[] receiveOffsets;
  private final int[] receiveCounts;
  private final int[] receiveNeeds;
  private final int reductions;

  private final int ranks;
  private final long elements;
  private final int chunkElements;

  /**
   * Makes the schedule.
   *
   * @param rank the rank whose schedule it is
   * @param ranks how many there are, 1 or more
   * @param elements length of the array, 0 or more
   * @param chunkElements greatest length of a message, 1 or more
   */
  public RingSchedule(int rank, int ranks, long elements, int chunkElements) {
    if (ranks < 1 || rank < 0 || rank >= ranks || elements < 0 || chunkElements < 1) {
      throw new IllegalArgumentException(
          "rank %d of %d, %d elements in chunks of %d"
              .formatted(rank, ranks, elements, chunkElements));
    }
    this.ranks = ranks;
    this.elements = elements;
    this.chunkElements = chunkElements;
    int steps = ranks - 1;
    // Where the chunks of each step begin, in the order of sends and of receives.
    int[] sendStarts = starts(rank, 0, steps);
    int[] receiveStarts = starts(rank, -1, steps);
    sendOffsets = new long[sendStarts[2 * steps]];
    sendCounts = new int[sendOffsets.length];
    sendNeeds = new int[sendOffsets.length];
    receiveOffsets = new long[receiveStarts[2 * steps]];
    receiveCounts = new int[receiveOffsets.length];
    receiveNeeds = new int[receiveOffsets.length];
    reductions = receiveStarts[steps];
    for (int step = 0; step < 2 * steps; step++) {
      int sent = segment(rank, step, 0);
      cut(sent, sendStarts[step], sendOffsets, sendCounts);
      for (int i = sendStarts[step]; i < sendStarts[step + 1]; i++) {
        // A step sends what the step before received.
        sendNeeds[i] = step == 0 ? NOTHING : receiveStarts[step - 1] + (i - sendStarts[step]);
      }
      int received = segment(rank, step, -1);
      cut(received, receiveStarts[step], receiveOffsets, receiveCounts);
      for (int i = receiveStarts[step]; i < receiveStarts[step + 1]; i++) {
        // A received sum overwrites elements that were sent in an earlier step; that send must be
        // done.
        receiveNeeds[i] =
            step < steps ? NOTHING : sendStarts[step - steps] + (i - receiveStarts[step]);
      }
    }
  }

  /** The segment of a step; a shift of 0 is for sends, -1 for receives. */
  private int segment(int rank, int step, int shift) {
    int steps = ranks - 1;
    int back = step < steps ? step : step - steps - 1;
    return Math.floorMod(rank - back + shift, ranks);
  }

  private int[] starts(int rank, int shift, int steps) {
    int[] starts = new int[2 * steps + 1];
    for (int step = 0; step < 2 * steps; step++) {
      starts[step + 1] = Math.addExact(starts[step], chunks(segment(rank, step, shift)));
    }
    return starts;
  }

  private int chunks(int segment) {
    return Math.toIntExact(Math.ceilDiv(begin(segment + 1) - begin(segment), chunkElements));
  }

  /** The first element of a segment; segments differ by one element at most. */
  private long begin(int segment) {
    long each = elements / ranks;
    return segment * each + Math.min(segment, elements % ranks);
  }

  private void cut(int segment, int at, long[] offsets, int[] counts) {
    long end = begin(segment + 1);
    int index = at;
    for (long offset = begin(segment); offset < end; offset += chunkElements) {
      offsets[index] = offset;
      counts[index] = (int) Math.min(chunkElements, end - offset);
      index++;
    }
  }

  /** How many messages it sends. */
  public int sends() {
    return sendOffsets.length;
  }

  /** The first element of a send. */
  public long sendOffset(int send) {
    return sendOffsets[send];
  }

  /** How many elements a send has, 1 or more. */
  public int sendCount(int send) {
    return sendCounts[send];
  }

  /** The receive that has to be done, with its elements added, before a send; -1 for none. */
  public int sendNeeds(int send) {
    return sendNeeds[send];
  }

  /** How many messages it receives. */
  public int receives() {
    return receiveOffsets.length;
  }

  /**
   * How many receives are added to the array. They come first; the data of the others replaces
   * elements.
   */
  public int reductions() {
    return reductions;
  }

  /** The first element of a receive. */
  public long receiveOffset(int receive) {
    return receiveOffsets[receive];
  }

  /** How many elements a receive has, 1 or more. */
  public int receiveCount(int receive) {
    return receiveCounts[receive];
  }

  /** The send that has to be done before a receive is posted; -1 for none. */
  public int receiveNeeds(int receive) {
    return receiveNeeds[receive];
  }

  /** The greatest length of a message. */
  public int chunkElements() {
    return chunkElements;
  }
}
