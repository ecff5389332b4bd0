package org.jofi.collectives.schedule;

/**
 * The ranks of an all-reduce that take part in steps which need a power of two: the greatest that
 * there is. Of the first ranks, each with an odd number gives its array to the one before, and gets
 * the result from it.
 */
final class Fold {
  private final Steps to;
  private final long count;
  private final int extra;

  /** How many take part. */
  final int power;

  Fold(Steps to, long count) {
    this.to = to;
    this.count = count;
    power = Integer.highestOneBit(to.size());
    extra = to.size() - power;
  }

  /** The number of this rank among those that take part; -1 if it does not. */
  int number() {
    int rank = to.rank();
    if (rank >= 2 * extra) {
      return rank - extra;
    }
    return rank % 2 == 0 ? rank / 2 : -1;
  }

  /** The rank of one that takes part. */
  int rank(int number) {
    return number < extra ? 2 * number : number + extra;
  }

  /** Hands over or takes what does not take part; returns where this rank's array is then. */
  Place begin(long chunk) {
    int rank = to.rank();
    if (rank >= 2 * extra) {
      return Place.INPUT;
    }
    Chunks chunks = new Chunks(0, count, chunk);
    if (rank % 2 == 1) {
      chunks.forEach((at, elements) -> to.send(rank - 1, Place.INPUT, at, elements));
      return Place.OUTPUT;
    }
    long landing = to.scratch(count);
    chunks.forEach(
        (at, elements) -> {
          to.receive(rank + 1, Place.SCRATCH, landing + at, elements);
          to.combine(Place.INPUT, at, Place.SCRATCH, landing + at, Place.OUTPUT, at, elements);
        });
    return Place.OUTPUT;
  }

  /** Gives the result to who did not take part. */
  void end(long chunk) {
    int rank = to.rank();
    if (rank >= 2 * extra) {
      return;
    }
    Chunks chunks = new Chunks(0, count, chunk);
    if (rank % 2 == 1) {
      chunks.forEach((at, elements) -> to.receive(rank - 1, Place.OUTPUT, at, elements));
    } else {
      chunks.forEach((at, elements) -> to.send(rank + 1, Place.OUTPUT, at, elements));
    }
  }
}
