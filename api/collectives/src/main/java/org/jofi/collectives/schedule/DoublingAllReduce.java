package org.jofi.collectives.schedule;

/**
 * An all-reduce by recursive doubling: in each step, ranks that differ in one bit exchange all they
 * have. It takes log2(n) steps, the least that is possible, and sends the whole array in each. Both
 * of a pair combine the lower rank's array with the higher one's, so that all get the same bits.
 */
final class DoublingAllReduce implements Algorithm {
  @Override
  public String name() {
    return "doubling";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.ALL_REDUCE;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    long count = operation.count();
    Fold fold = new Fold(to, count);
    Place at = fold.begin(Math.max(1, count));
    int number = fold.number();
    if (number >= 0) {
      Landing landing = new Landing(to, count, 2);
      for (int bit = 1; bit < fold.power; bit *= 2) {
        int partner = fold.rank(number ^ bit);
        long slot = landing.next();
        to.send(partner, at, 0, count);
        to.receive(partner, Place.SCRATCH, slot, count);
        if (partner > to.rank()) {
          to.combine(at, 0, Place.SCRATCH, slot, Place.OUTPUT, 0, count);
        } else {
          to.combine(Place.SCRATCH, slot, at, 0, Place.OUTPUT, 0, count);
        }
        at = Place.OUTPUT;
      }
      to.finish(Place.OUTPUT, 0, count);
    }
    fold.end(Math.max(1, count));
  }
}
