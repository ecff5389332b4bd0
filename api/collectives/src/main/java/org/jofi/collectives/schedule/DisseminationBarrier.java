package org.jofi.collectives.schedule;

/** A barrier in ceil(log2(n)) steps: in each, a rank tells one that is a power of two ahead. */
final class DisseminationBarrier implements Algorithm {
  @Override
  public String name() {
    return "dissemination";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.BARRIER;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    int rank = to.rank();
    int size = to.size();
    // What is sent was received before, so that each step waits for the one before.
    long word = to.scratch(1);
    for (int ahead = 1; ahead < size; ahead *= 2) {
      to.send((rank + ahead) % size, Place.SCRATCH, word, 1);
      word = to.scratch(1);
      to.receive(Math.floorMod(rank - ahead, size), Place.SCRATCH, word, 1);
    }
  }
}
