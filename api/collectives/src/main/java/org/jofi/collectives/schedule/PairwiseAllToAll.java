package org.jofi.collectives.schedule;

/** An all-to-all in which every rank sends to each, beginning with the next one. */
final class PairwiseAllToAll implements Algorithm {
  @Override
  public String name() {
    return "pairwise";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.ALL_TO_ALL;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    int rank = to.rank();
    int size = to.size();
    long[] sent = new long[size + 1];
    long[] received = new long[size + 1];
    for (int peer = 0; peer < size; peer++) {
      sent[peer + 1] = sent[peer] + operation.sent(peer);
      received[peer + 1] = received[peer] + operation.received(peer);
    }
    Place from = Place.INPUT;
    if (to.isShared()) {
      // What arrives would overwrite what is not sent yet.
      from = Place.SCRATCH;
      to.copy(Place.INPUT, 0, from, to.scratch(sent[size]), sent[size]);
    }
    for (int t = 1; t < size; t++) {
      int target = (rank + t) % size;
      int source = Math.floorMod(rank - t, size);
      to.send(target, from, sent[target], operation.sent(target));
      to.receive(source, Place.OUTPUT, received[source], operation.received(source));
    }
    to.copy(from, sent[rank], Place.OUTPUT, received[rank], operation.sent(rank));
  }
}
