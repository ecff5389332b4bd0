package org.jofi.collectives.schedule;

/**
 * Rabenseifner's all-reduce: a reduce-scatter by recursive halving, then an all-gather by recursive
 * doubling. It sends as little as a ring does, in 2 log2(n) steps, if the number of ranks is a
 * power of two.
 *
 * @see <a href="https://doi.org/10.1007/978-3-540-24685-5_1">Optimization of Collective Reduction
 *     Operations, R. Rabenseifner, 2004</a>
 */
final class HalvingAllReduce implements Algorithm {
  @Override
  public String name() {
    return "halving";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.ALL_REDUCE && size > 2;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    long count = operation.count();
    Fold fold = new Fold(to, count);
    Place from = fold.begin(chunk);
    if (fold.number() >= 0) {
      Segments segments = new Segments(count, fold.power);
      reduceScatter(to, fold, segments, from, chunk);
      allGather(to, fold, segments, chunk);
    }
    fold.end(chunk);
  }

  private static void reduceScatter(
      Steps to, Fold fold, Segments segments, Place begin, long chunk) {
    int number = fold.number();
    long half = segments.begin(fold.power) - segments.begin(fold.power / 2);
    long landing = to.scratch(Math.max(half, segments.begin(fold.power / 2)));
    Place from = begin;
    for (int bit = fold.power / 2; bit > 0; bit /= 2) {
      int partner = fold.rank(number ^ bit);
      Place place = from;
      block(segments, number ^ bit, bit, chunk)
          .forEach((at, elements) -> to.send(partner, place, at, elements));
      Chunks mine = block(segments, number, bit, chunk);
      mine.forEach(
          (at, elements) -> {
            long slot = landing + at - mine.begin();
            to.receive(partner, Place.SCRATCH, slot, elements);
            to.combine(place, at, Place.SCRATCH, slot, Place.OUTPUT, at, elements);
          });
      from = Place.OUTPUT;
    }
    block(segments, number, 1, chunk)
        .forEach((at, elements) -> to.finish(Place.OUTPUT, at, elements));
  }

  private static void allGather(Steps to, Fold fold, Segments segments, long chunk) {
    int number = fold.number();
    for (int bit = 1; bit < fold.power; bit *= 2) {
      int partner = fold.rank(number ^ bit);
      block(segments, number, bit, chunk)
          .forEach((at, elements) -> to.send(partner, Place.OUTPUT, at, elements));
      block(segments, number ^ bit, bit, chunk)
          .forEach((at, elements) -> to.receive(partner, Place.OUTPUT, at, elements));
    }
  }

  /**
   * The so many segments, a power of two, that a rank shares with those of the same higher bits.
   */
  private static Chunks block(Segments segments, int number, int length, long chunk) {
    int first = number / length * length;
    long begin = segments.begin(first);
    return new Chunks(begin, segments.begin(first + length) - begin, chunk);
  }
}
