package org.jofi.collectives.schedule;

/** A broadcast from rank to rank, a chunk after the other: every rank sends the array once. */
final class ChainBroadcast implements Algorithm {
  @Override
  public String name() {
    return "chain";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.BROADCAST;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    int rank = to.rank();
    int size = to.size();
    boolean root = rank == operation.root();
    int next = (rank + 1) % size;
    int previous = Math.floorMod(rank - 1, size);
    boolean last = next == operation.root();
    new Chunks(0, operation.count(), chunk)
        .forEach(
            (at, count) -> {
              if (!root) {
                to.receive(previous, Place.OUTPUT, at, count);
              }
              if (!last) {
                to.send(next, root ? Place.INPUT : Place.OUTPUT, at, count);
              }
            });
    if (root) {
      to.copy(Place.INPUT, 0, Place.OUTPUT, 0, operation.count());
    }
  }
}
