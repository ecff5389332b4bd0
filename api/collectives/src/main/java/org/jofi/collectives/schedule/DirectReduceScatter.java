package org.jofi.collectives.schedule;

/**
 * A reduce-scatter in which every rank sends to each what becomes its part: one step, for short
 * ones.
 */
final class DirectReduceScatter implements Algorithm {
  @Override
  public String name() {
    return "direct";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.REDUCE_SCATTER;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    int rank = to.rank();
    int size = to.size();
    long count = operation.count();
    long base = to.scratch(size * count);
    for (int t = 1; t < size; t++) {
      int peer = (rank + t) % size;
      to.send(peer, Place.INPUT, peer * count, count);
    }
    for (int t = 1; t < size; t++) {
      int peer = Math.floorMod(rank - t, size);
      to.receive(peer, Place.SCRATCH, base + peer * count, count);
    }
    Place sum = Place.INPUT;
    long at = rank * count;
    for (int t = 1; t < size; t++) {
      int peer = Math.floorMod(rank - t, size);
      to.combine(sum, at, Place.SCRATCH, base + peer * count, Place.OUTPUT, 0, count);
      sum = Place.OUTPUT;
      at = 0;
    }
    to.finish(Place.OUTPUT, 0, count);
  }
}
