package org.jofi.collectives.schedule;

/** A scatter down a binomial tree: ceil(log2(n)) steps, for short arrays of many ranks. */
final class BinomialScatter implements Algorithm {
  @Override
  public String name() {
    return "binomial";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.SCATTER;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    int size = to.size();
    int root = operation.root();
    Tree tree = new Tree(to.rank(), root, size);
    long count = operation.count();
    int blocks = Math.min(tree.bits(), size - tree.number());
    long base = to.scratch(blocks * count);
    if (tree.isRoot()) {
      int before = size - root;
      to.copy(Place.INPUT, root * count, Place.SCRATCH, base, before * count);
      to.copy(Place.INPUT, 0, Place.SCRATCH, base + before * count, root * count);
    } else {
      to.receive(tree.parent(), Place.SCRATCH, base, blocks * count);
    }
    for (int bit = tree.bits() / 2; bit > 0; bit /= 2) {
      if (tree.hasChild(bit)) {
        to.send(tree.child(bit), Place.SCRATCH, base + bit * count, tree.below(bit) * count);
      }
    }
    to.copy(Place.SCRATCH, base, Place.OUTPUT, 0, count);
  }
}
