package org.jofi.collectives.schedule;

/** A gather up a binomial tree: ceil(log2(n)) steps at the root, for short arrays of many ranks. */
final class BinomialGather implements Algorithm {
  @Override
  public String name() {
    return "binomial";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.GATHER;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    int size = to.size();
    Tree tree = new Tree(to.rank(), operation.root(), size);
    long count = operation.count();
    int blocks = Math.min(tree.bits(), size - tree.number());
    long base = to.scratch(blocks * count);
    to.copy(Place.INPUT, 0, Place.SCRATCH, base, count);
    for (int bit = 1; bit < tree.bits(); bit *= 2) {
      if (tree.hasChild(bit)) {
        to.receive(tree.child(bit), Place.SCRATCH, base + bit * count, tree.below(bit) * count);
      }
    }
    if (!tree.isRoot()) {
      to.send(tree.parent(), Place.SCRATCH, base, blocks * count);
      return;
    }
    int before = size - operation.root();
    to.copy(Place.SCRATCH, base, Place.OUTPUT, operation.root() * count, before * count);
    to.copy(Place.SCRATCH, base + before * count, Place.OUTPUT, 0, operation.root() * count);
  }
}
