package org.jofi.collectives.schedule;

/**
 * A reduce from rank to rank towards the root, a chunk after the other: every rank sends the array
 * once.
 */
final class ChainReduce implements Algorithm {
  private static final int SLOTS = 8;

  @Override
  public String name() {
    return "chain";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.REDUCE;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    int rank = to.rank();
    int size = to.size();
    boolean root = rank == operation.root();
    int next = (rank + 1) % size;
    int previous = Math.floorMod(rank - 1, size);
    boolean first = next == operation.root();
    Landing landing = new Landing(to, Math.min(chunk, operation.count()), SLOTS);
    new Chunks(0, operation.count(), chunk)
        .forEach(
            (at, count) -> {
              if (first) {
                to.send(previous, Place.INPUT, at, count);
                return;
              }
              long slot = landing.next();
              to.receive(next, Place.SCRATCH, slot, count);
              if (root) {
                to.combine(Place.INPUT, at, Place.SCRATCH, slot, Place.OUTPUT, at, count);
                to.finish(Place.OUTPUT, at, count);
              } else {
                to.combine(Place.INPUT, at, Place.SCRATCH, slot, Place.SCRATCH, slot, count);
                to.send(previous, Place.SCRATCH, slot, count);
              }
            });
  }
}
