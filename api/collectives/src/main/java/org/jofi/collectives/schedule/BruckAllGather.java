package org.jofi.collectives.schedule;

/**
 * Bruck's all-gather: in each step, a rank sends all it has to one that is a power of two behind.
 * It takes ceil(log2(n)) steps for any number of ranks; at the end, what begins with a rank's own
 * array is turned to begin with the first one's.
 *
 * @see <a href="https://doi.org/10.1109/71.642949">Efficient Algorithms for All-to-All
 *     Communications in Multiport Message-Passing Systems, J. Bruck et al., 1997</a>
 */
final class BruckAllGather implements Algorithm {
  @Override
  public String name() {
    return "bruck";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.ALL_GATHER;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    int rank = to.rank();
    int size = to.size();
    long count = operation.count();
    long base = to.scratch(size * count);
    to.copy(Place.INPUT, 0, Place.SCRATCH, base, count);
    for (int have = 1; have < size; have *= 2) {
      int blocks = Math.min(have, size - have);
      to.send(Math.floorMod(rank - have, size), Place.SCRATCH, base, blocks * count);
      to.receive((rank + have) % size, Place.SCRATCH, base + have * count, blocks * count);
    }
    int before = size - rank;
    to.copy(Place.SCRATCH, base, Place.OUTPUT, rank * count, before * count);
    to.copy(Place.SCRATCH, base + before * count, Place.OUTPUT, 0, rank * count);
  }
}
