package org.jofi.collectives.schedule;

/** An all-gather in a ring: every array goes round. */
final class RingAllGather implements Algorithm {
  @Override
  public String name() {
    return "ring";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.ALL_GATHER;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    int rank = to.rank();
    int size = to.size();
    int next = (rank + 1) % size;
    int previous = Math.floorMod(rank - 1, size);
    long count = operation.count();
    for (int t = 0; t < size - 1; t++) {
      if (t == 0) {
        new Chunks(0, count, chunk).forEach((at, each) -> to.send(next, Place.INPUT, at, each));
      } else {
        new Chunks(Math.floorMod(rank - t, size) * count, count, chunk)
            .forEach((at, each) -> to.send(next, Place.OUTPUT, at, each));
      }
      new Chunks(Math.floorMod(rank - t - 1, size) * count, count, chunk)
          .forEach((at, each) -> to.receive(previous, Place.OUTPUT, at, each));
    }
    to.copy(Place.INPUT, 0, Place.OUTPUT, rank * count, count);
  }
}
