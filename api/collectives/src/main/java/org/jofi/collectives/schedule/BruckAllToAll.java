package org.jofi.collectives.schedule;

/**
 * Bruck's all-to-all: in each step, a rank sends on all that has a bit of the way left to go, to
 * the rank that is this bit ahead. It takes ceil(log2(n)) messages in place of n - 1, each of them
 * with half of the array.
 */
final class BruckAllToAll implements Algorithm {
  @Override
  public String name() {
    return "bruck";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.ALL_TO_ALL && !operation.isByCounts();
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    int rank = to.rank();
    int size = to.size();
    long count = operation.count();
    // Block j is under way to the rank that is j ahead.
    long blocks = to.scratch(size * count);
    for (int j = 0; j < size; j++) {
      to.copy(Place.INPUT, (rank + j) % size * count, Place.SCRATCH, blocks + j * count, count);
    }
    long packed = to.scratch(size * count);
    long landed = to.scratch(size * count);
    for (int bit = 1; bit < size; bit *= 2) {
      int moved = 0;
      for (int j = bit; j < size; j++) {
        if ((j & bit) != 0) {
          to.copy(
              Place.SCRATCH, blocks + j * count, Place.SCRATCH, packed + moved++ * count, count);
        }
      }
      to.send((rank + bit) % size, Place.SCRATCH, packed, moved * count);
      to.receive(Math.floorMod(rank - bit, size), Place.SCRATCH, landed, moved * count);
      moved = 0;
      for (int j = bit; j < size; j++) {
        if ((j & bit) != 0) {
          to.copy(
              Place.SCRATCH, landed + moved++ * count, Place.SCRATCH, blocks + j * count, count);
        }
      }
    }
    for (int j = 0; j < size; j++) {
      to.copy(
          Place.SCRATCH,
          blocks + j * count,
          Place.OUTPUT,
          Math.floorMod(rank - j, size) * count,
          count);
    }
  }
}
