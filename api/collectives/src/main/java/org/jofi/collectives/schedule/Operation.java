package org.jofi.collectives.schedule;

import java.util.Arrays;

/**
 * A collective operation as far as it decides who sends what to whom: lengths are in elements,
 * whatever these are. Immutable; any thread.
 */
public final class Operation {
  /** What is done. */
  public enum Kind {
    /** Every rank gets the reduction of the arrays of all. */
    ALL_REDUCE("all-reduce"),
    /** Every rank gets its part of the reduction of the arrays of all. */
    REDUCE_SCATTER("reduce-scatter"),
    /** Every rank gets the arrays of all, one after the other. */
    ALL_GATHER("all-gather"),
    /** Every rank gets the root's array. */
    BROADCAST("broadcast"),
    /** The root gets the reduction of the arrays of all. */
    REDUCE("reduce"),
    /** The root gets the arrays of all, one after the other. */
    GATHER("gather"),
    /** Every rank gets its part of the root's array. */
    SCATTER("scatter"),
    /** Every rank sends a part of its array to each. */
    ALL_TO_ALL("all-to-all"),
    /** Nobody goes on before all have come. */
    BARRIER("barrier");

    private final String words;

    Kind(String words) {
      this.words = words;
    }

    /** {@return its name for people} */
    @Override
    public String toString() {
      return words;
    }
  }

  private static final long[] EQUAL = {};

  private final Kind kind;
  private final long count;
  private final int root;
  private final long[] sent;
  private final long[] received;

  private Operation(Kind kind, long count, int root, long[] sent, long[] received) {
    if (count < 0 || root < 0) {
      throw new IllegalArgumentException("%s of %d elements, root %d".formatted(kind, count, root));
    }
    this.kind = kind;
    this.count = count;
    this.root = root;
    this.sent = sent;
    this.received = received;
  }

  /**
   * {@return an operation without a root}
   *
   * @param kind what is done
   * @param count elements of a rank's array in an all-reduce and an all-gather; of its part in a
   *     reduce-scatter; of what one rank sends to one in an all-to-all; 0 in a barrier
   */
  public static Operation of(Kind kind, long count) {
    return new Operation(kind, count, 0, EQUAL, EQUAL);
  }

  /**
   * {@return an operation with a root}
   *
   * @param kind what is done
   * @param count elements of an array in a broadcast, a reduce and a gather; of a part in a scatter
   * @param root the rank that sends or gets all
   */
  public static Operation of(Kind kind, long count, int root) {
    return new Operation(kind, count, root, EQUAL, EQUAL);
  }

  /**
   * {@return an all-to-all with a length for each pair of ranks, as one of them sees it}
   *
   * @param sent how many elements it sends to each rank, itself included
   * @param received how many it receives from each, itself included
   */
  public static Operation allToAll(long[] sent, long[] received) {
    if (sent.length != received.length || sent.length == 0) {
      throw new IllegalArgumentException(
          "lengths for %d and from %d ranks".formatted(sent.length, received.length));
    }
    for (int rank = 0; rank < sent.length; rank++) {
      if (sent[rank] < 0 || received[rank] < 0) {
        throw new IllegalArgumentException(
            "%d elements to and %d from rank %d".formatted(sent[rank], received[rank], rank));
      }
    }
    return new Operation(Kind.ALL_TO_ALL, 0, 0, sent.clone(), received.clone());
  }

  /**
   * Checks the lengths of each pair of ranks.
   *
   * @param rank whose they are
   * @param size how many ranks there are
   * @throws IllegalArgumentException if there are not as many, or the rank does not receive from
   *     itself what it sends to itself
   */
  public void checkCounts(int rank, int size) {
    if (sent.length != size) {
      throw new IllegalArgumentException(
          "%s: lengths for %d ranks, there are %d".formatted(this, sent.length, size));
    }
    if (sent[rank] != received[rank]) {
      throw new IllegalArgumentException(
          "%s: %d elements to this rank itself, and %d from it"
              .formatted(this, sent[rank], received[rank]));
    }
  }

  /** {@return what is done} */
  public Kind kind() {
    return kind;
  }

  /** {@return its length in elements, as given; 0 if each pair has its own} */
  public long count() {
    return count;
  }

  /** {@return the root; 0 if it has none} */
  public int root() {
    return root;
  }

  /** {@return whether each pair of ranks has a length of its own} */
  public boolean isByCounts() {
    return sent.length > 0;
  }

  /**
   * {@return how many elements this rank sends to another in an all-to-all}
   *
   * @param rank the other one, or itself
   */
  public long sent(int rank) {
    return isByCounts() ? sent[rank] : count;
  }

  /**
   * {@return how many elements this rank receives from another in an all-to-all}
   *
   * @param rank the other one, or itself
   */
  public long received(int rank) {
    return isByCounts() ? received[rank] : count;
  }

  /** {@return what each rank is sent by counts, by its number; empty if it is not by counts} */
  public long[] sentEach() {
    return sent.clone();
  }

  /** {@return what each rank sends by counts, by its number; empty if it is not by counts} */
  public long[] receivedEach() {
    return received.clone();
  }

  /**
   * {@return the length of the input, in elements}
   *
   * @param rank whose
   * @param size how many ranks there are
   */
  public long input(int rank, int size) {
    return switch (kind) {
      case ALL_REDUCE, ALL_GATHER, REDUCE, GATHER -> count;
      case REDUCE_SCATTER -> Math.multiplyExact(count, size);
      case BROADCAST -> rank == root ? count : 0;
      case SCATTER -> rank == root ? Math.multiplyExact(count, size) : 0;
      case ALL_TO_ALL -> isByCounts() ? sum(sent) : Math.multiplyExact(count, size);
      case BARRIER -> 0;
    };
  }

  /**
   * {@return the length of the output, in elements}
   *
   * @param rank whose
   * @param size how many ranks there are
   */
  public long output(int rank, int size) {
    return switch (kind) {
      case ALL_REDUCE, REDUCE_SCATTER, BROADCAST, SCATTER -> count;
      case ALL_GATHER -> Math.multiplyExact(count, size);
      case REDUCE -> rank == root ? count : 0;
      case GATHER -> rank == root ? Math.multiplyExact(count, size) : 0;
      case ALL_TO_ALL -> isByCounts() ? sum(received) : Math.multiplyExact(count, size);
      case BARRIER -> 0;
    };
  }

  private static long sum(long[] counts) {
    return Arrays.stream(counts).reduce(0, Math::addExact);
  }

  /**
   * {@return where the input may begin in the output if they share memory, in elements; negative if
   * the output begins after it, in the input}
   *
   * @param rank whose
   */
  public long inPlace(int rank) {
    return switch (kind) {
      case ALL_REDUCE, BROADCAST, REDUCE, ALL_TO_ALL, BARRIER -> 0;
      case ALL_GATHER, GATHER -> rank * count;
      case REDUCE_SCATTER, SCATTER -> -rank * count;
    };
  }

  /** {@return whether arrays are reduced} */
  public boolean isReduction() {
    return kind == Kind.ALL_REDUCE || kind == Kind.REDUCE_SCATTER || kind == Kind.REDUCE;
  }

  /** {@return whether one rank is the root} */
  public boolean hasRoot() {
    return kind == Kind.BROADCAST
        || kind == Kind.REDUCE
        || kind == Kind.GATHER
        || kind == Kind.SCATTER;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Operation that
        && kind == that.kind
        && count == that.count
        && root == that.root
        && Arrays.equals(sent, that.sent)
        && Arrays.equals(received, that.received);
  }

  @Override
  public int hashCode() {
    return (31 * (31 * kind.hashCode() + Long.hashCode(count)) + root) * 31 + Arrays.hashCode(sent);
  }

  /** {@return it in words, alike on all ranks that take part in it} */
  @Override
  public String toString() {
    return switch (kind) {
      case BARRIER -> kind.toString();
      case ALL_TO_ALL -> isByCounts() ? kind + " by counts" : kind + " of " + count;
      case BROADCAST, REDUCE, GATHER, SCATTER ->
          "%s of %d with root %d".formatted(kind, count, root);
      case ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER -> kind + " of " + count;
    };
  }
}
