package org.jofi.collectives.schedule;

/**
 * An all-reduce in a ring: each part of the array goes round once, and every rank adds its own;
 * then the results go round. Every rank sends and receives 2 (n - 1) / n of the array, the least
 * that is possible, in 2 (n - 1) steps.
 *
 * <pre>
 *                     sends segment      receives segment    modulo ranks
 * reduce-scatter t    rank - t           rank - t - 1        t from 0 up to, without, ranks - 1
 * all-gather t        rank - t + 1       rank - t
 * </pre>
 */
final class RingAllReduce implements Algorithm {
  /** Chunks that may wait for being added. */
  private static final int SLOTS = 8;

  @Override
  public String name() {
    return "ring";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.ALL_REDUCE;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    int rank = to.rank();
    int size = to.size();
    int next = (rank + 1) % size;
    int previous = Math.floorMod(rank - 1, size);
    Segments segments = new Segments(operation.count(), size);
    Landing landing = new Landing(to, Math.min(chunk, segments.longest()), SLOTS);
    for (int t = 0; t < size - 1; t++) {
      Place from = t == 0 ? Place.INPUT : Place.OUTPUT;
      cut(segments, rank - t, size, chunk).forEach((at, count) -> to.send(next, from, at, count));
      boolean last = t == size - 2;
      cut(segments, rank - t - 1, size, chunk)
          .forEach(
              (at, count) -> {
                long slot = landing.next();
                to.receive(previous, Place.SCRATCH, slot, count);
                to.combine(Place.INPUT, at, Place.SCRATCH, slot, Place.OUTPUT, at, count);
                if (last) {
                  to.finish(Place.OUTPUT, at, count);
                }
              });
    }
    for (int t = 0; t < size - 1; t++) {
      cut(segments, rank - t + 1, size, chunk)
          .forEach((at, count) -> to.send(next, Place.OUTPUT, at, count));
      cut(segments, rank - t, size, chunk)
          .forEach((at, count) -> to.receive(previous, Place.OUTPUT, at, count));
    }
  }

  private static Chunks cut(Segments segments, int part, int size, long chunk) {
    return segments.cut(Math.floorMod(part, size), chunk);
  }
}
