package org.jofi.collectives.schedule;

/** A gather in which every rank sends to the root. */
final class LinearGather implements Algorithm {
  @Override
  public String name() {
    return "linear";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.GATHER;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    long count = operation.count();
    if (to.rank() != operation.root()) {
      to.send(operation.root(), Place.INPUT, 0, count);
      return;
    }
    for (int t = 1; t < to.size(); t++) {
      int peer = (to.rank() + t) % to.size();
      to.receive(peer, Place.OUTPUT, peer * count, count);
    }
    to.copy(Place.INPUT, 0, Place.OUTPUT, to.rank() * count, count);
  }
}
