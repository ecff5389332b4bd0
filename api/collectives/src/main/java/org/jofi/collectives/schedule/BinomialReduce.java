package org.jofi.collectives.schedule;

/** A reduce up a binomial tree: ceil(log2(n)) steps, with the whole array in each. */
final class BinomialReduce implements Algorithm {
  @Override
  public String name() {
    return "binomial";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.REDUCE;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    Tree tree = new Tree(to.rank(), operation.root(), to.size());
    long count = operation.count();
    Place sum = tree.isRoot() ? Place.OUTPUT : Place.SCRATCH;
    long sumAt = tree.isRoot() ? 0 : to.scratch(count);
    Landing landing = new Landing(to, count, 2);
    Place from = Place.INPUT;
    long at = 0;
    for (int bit = 1; bit < tree.bits(); bit *= 2) {
      if (tree.hasChild(bit)) {
        long slot = landing.next();
        to.receive(tree.child(bit), Place.SCRATCH, slot, count);
        to.combine(from, at, Place.SCRATCH, slot, sum, sumAt, count);
        from = sum;
        at = sumAt;
      }
    }
    if (tree.isRoot()) {
      to.finish(Place.OUTPUT, 0, count);
    } else {
      to.send(tree.parent(), from, at, count);
    }
  }
}
