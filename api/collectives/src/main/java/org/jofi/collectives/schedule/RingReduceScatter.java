package org.jofi.collectives.schedule;

/**
 * A reduce-scatter in a ring: what becomes a rank's part begins at the next rank, goes round, and
 * every rank adds its own. The chunks of a part go round in groups, so that what is under way fits
 * into a few slots.
 */
final class RingReduceScatter implements Algorithm {
  private static final long GROUP = 8;

  @Override
  public String name() {
    return "ring";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return operation.kind() == Operation.Kind.REDUCE_SCATTER;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    long count = operation.count();
    long slotLength = Math.min(chunk, Math.max(1, count));
    // Two groups, so that one begins while the other ends; and what a step receives lies apart from
    // what it sends: a receive that waited for the send would wait for itself, all around the ring.
    long base = to.scratch(4 * GROUP * slotLength);
    long groups = Math.ceilDiv(count, GROUP * slotLength);
    for (long group = 0; group < groups; group++) {
      long begin = group * GROUP * slotLength;
      long length = Math.min(GROUP * slotLength, count - begin);
      roundTrip(
          to,
          new Chunks(begin, length, slotLength),
          count,
          base + group % 2 * 2 * GROUP * slotLength);
    }
  }

  private static void roundTrip(Steps to, Chunks group, long count, long slots) {
    int rank = to.rank();
    int size = to.size();
    int next = (rank + 1) % size;
    int previous = Math.floorMod(rank - 1, size);
    for (int t = 0; t < size - 1; t++) {
      boolean first = t == 0;
      boolean last = t == size - 2;
      long target = slots + t % 2 * GROUP * group.chunk();
      long source = slots + (t + 1) % 2 * GROUP * group.chunk();
      long sent = Math.floorMod(rank - t - 1, size) * count;
      long received = Math.floorMod(rank - t - 2, size) * count;
      group.forEach(
          (at, elements) -> {
            if (first) {
              to.send(next, Place.INPUT, sent + at, elements);
            } else {
              to.send(next, Place.SCRATCH, source + at - group.begin(), elements);
            }
          });
      group.forEach(
          (at, elements) -> {
            long slot = target + at - group.begin();
            to.receive(previous, Place.SCRATCH, slot, elements);
            if (last) {
              to.combine(
                  Place.INPUT, received + at, Place.SCRATCH, slot, Place.OUTPUT, at, elements);
              to.finish(Place.OUTPUT, at, elements);
            } else {
              to.combine(
                  Place.INPUT, received + at, Place.SCRATCH, slot, Place.SCRATCH, slot, elements);
            }
          });
    }
  }
}
