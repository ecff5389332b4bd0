package org.jofi.collectives.schedule;

/** A scatter in which the root sends to every rank. */
final class LinearScatter implements Algorithm {
  @Override
  public String name() {
    return "linear";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.SCATTER;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    long count = operation.count();
    if (to.rank() != operation.root()) {
      to.receive(operation.root(), Place.OUTPUT, 0, count);
      return;
    }
    for (int t = 1; t < to.size(); t++) {
      int peer = (to.rank() + t) % to.size();
      to.send(peer, Place.INPUT, peer * count, count);
    }
    to.copy(Place.INPUT, to.rank() * count, Place.OUTPUT, 0, count);
  }
}
