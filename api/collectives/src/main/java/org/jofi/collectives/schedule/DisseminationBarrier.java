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
    // All that was received is sent on, so that a step waits for all steps before it: with the last
    // one alone, a rank could leave before some other one has come.
    long words = to.scratch(size);
    for (int ahead = 1; ahead < size; ahead *= 2) {
      int count = Math.min(ahead, size - ahead);
      to.send((rank + ahead) % size, Place.SCRATCH, words, count);
      to.receive(Math.floorMod(rank - ahead, size), Place.SCRATCH, words + ahead, count);
    }
  }
}
