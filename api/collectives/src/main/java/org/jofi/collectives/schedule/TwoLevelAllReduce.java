package org.jofi.collectives.schedule;

import java.util.List;
import java.util.stream.IntStream;

/**
 * An all-reduce within each host, between hosts, and within each host again. As many ranks of each
 * host as the smallest has are owners, each of its part of the array: all ranks of the host send it
 * their part, the owners of a part on all hosts reduce that between them, and give it to the ranks
 * of their hosts. So as much leaves a host as if it were one rank.
 */
final class TwoLevelAllReduce extends TwoLevel {
  /** Chunks that may wait for being added. */
  private static final int SLOTS = 8;

  private final Algorithm between;

  /**
   * @param hosts of the ranks, several
   * @param between what owners of a part do
   */
  TwoLevelAllReduce(Hosts hosts, Algorithm between) {
    super(Operation.Kind.ALL_REDUCE, hosts);
    this.between = between;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    List<Integer> mates = hosts.ranks(hosts.hostOf(to.rank()));
    int me = mates.indexOf(to.rank());
    int owners = hosts.fewest();
    Segments segments = new Segments(operation.count(), owners);
    reduceWithin(to, mates, me, segments, chunk);
    if (me < owners) {
      List<Integer> others =
          IntStream.range(0, hosts.count()).mapToObj(host -> hosts.ranks(host).get(me)).toList();
      Place reduced = mates.size() == 1 ? Place.INPUT : Place.OUTPUT;
      long begin = segments.begin(me);
      between.write(
          to.part(others, reduced, begin, Place.OUTPUT, begin, true),
          Operation.of(Operation.Kind.ALL_REDUCE, segments.length(me)),
          chunk);
    }
    gatherWithin(to, mates, me, segments, chunk);
  }

  private static void reduceWithin(
      Steps to, List<Integer> mates, int me, Segments segments, long chunk) {
    int size = mates.size();
    for (int t = 1; t < size; t++) {
      int mate = (me + t) % size;
      if (mate < segments.parts()) {
        segments
            .cut(mate, chunk)
            .forEach((at, count) -> to.send(mates.get(mate), Place.INPUT, at, count));
      }
    }
    if (me >= segments.parts()) {
      return;
    }
    Landing landing = new Landing(to, Math.min(chunk, segments.longest()), SLOTS);
    segments
        .cut(me, chunk)
        .forEach(
            (at, count) -> {
              for (int t = 1; t < size; t++) {
                long slot = landing.next();
                to.receive(mates.get(Math.floorMod(me - t, size)), Place.SCRATCH, slot, count);
                Place sum = t == 1 ? Place.INPUT : Place.OUTPUT;
                to.combine(sum, at, Place.SCRATCH, slot, Place.OUTPUT, at, count);
              }
            });
  }

  private static void gatherWithin(
      Steps to, List<Integer> mates, int me, Segments segments, long chunk) {
    int size = mates.size();
    for (int t = 1; t < size; t++) {
      if (me < segments.parts()) {
        int mate = mates.get((me + t) % size);
        segments.cut(me, chunk).forEach((at, count) -> to.send(mate, Place.OUTPUT, at, count));
      }
      int owner = Math.floorMod(me - t, size);
      if (owner < segments.parts()) {
        segments
            .cut(owner, chunk)
            .forEach((at, count) -> to.receive(mates.get(owner), Place.OUTPUT, at, count));
      }
    }
  }
}
