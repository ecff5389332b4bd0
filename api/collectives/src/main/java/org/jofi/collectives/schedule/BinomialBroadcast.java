package org.jofi.collectives.schedule;

/** A broadcast down a binomial tree: ceil(log2(n)) steps, with the whole array in each. */
final class BinomialBroadcast implements Algorithm {
  @Override
  public String name() {
    return "binomial";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.BROADCAST;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    Tree tree = new Tree(to.rank(), operation.root(), to.size());
    long count = operation.count();
    Place from = tree.isRoot() ? Place.INPUT : Place.OUTPUT;
    if (!tree.isRoot()) {
      to.receive(tree.parent(), Place.OUTPUT, 0, count);
    }
    for (int bit = tree.bits() / 2; bit > 0; bit /= 2) {
      if (tree.hasChild(bit)) {
        to.send(tree.child(bit), from, 0, count);
      }
    }
    if (tree.isRoot()) {
      to.copy(Place.INPUT, 0, Place.OUTPUT, 0, count);
    }
  }
}
