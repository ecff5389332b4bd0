package org.jofi.cli.allreduce;

/**
 * What one rank of a ring does to sum an array of all ranks, in place: so many sends to the next
 * rank and receives from the previous one, each in order, and what each has to wait for. Pure.
 *
 * <p>The array is cut into as many segments as there are ranks. In the first half of the steps,
 * reduce-scatter, a segment travels once round the ring and each rank adds its own part, so that at
 * the end rank r holds the sum of segment r + 1. In the second half, all-gather, the sums travel
 * round.
 *
 * <pre>
 *                     sends segment      receives segment    modulo ranks
 * reduce-scatter t    rank - t           rank - t - 1, adds  t from 0 up to, without, ranks - 1
 * all-gather t        rank - t + 1       rank - t
 * </pre>
 *
 * <p>What is sent in a step is what was received in the step before. Each segment is cut into
 * chunks that go their way independently, so that one is added while others travel. Every rank cuts
 * alike: the sends of a rank are the receives of the next, in the same order and of the same
 * lengths.
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
   * Plans.
   *
   * @param rank whose schedule it is
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
        // What goes on is what came in the step before.
        sendNeeds[i] = step == 0 ? NOTHING : receiveStarts[step - 1] + (i - sendStarts[step]);
      }
      int received = segment(rank, step, -1);
      cut(received, receiveStarts[step], receiveOffsets, receiveCounts);
      for (int i = receiveStarts[step]; i < receiveStarts[step + 1]; i++) {
        // A sum overwrites what was sent from there steps ago, which must have left.
        receiveNeeds[i] =
            step < steps ? NOTHING : sendStarts[step - steps] + (i - receiveStarts[step]);
      }
    }
  }

  /** The segment of a step: of sends with a shift of 0, of receives with -1. */
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

  /** The receive that has to be done, its elements added, before a send; -1 for none. */
  public int sendNeeds(int send) {
    return sendNeeds[send];
  }

  /** How many messages it receives. */
  public int receives() {
    return receiveOffsets.length;
  }

  /** How many of them, the first ones, are added to what is there; the others take its place. */
  public int reductions() {
    return reductions;
  }

  /** The first element that a receive is for. */
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
