package org.jofi.collectives.schedule;

import java.util.List;

/** A reduce to one rank of each host, and from these to the root. */
final class TwoLevelReduce extends TwoLevel {
  private final Algorithm each;

  /**
   * @param hosts of the ranks, several
   * @param each how it is done on either level
   */
  TwoLevelReduce(Hosts hosts, Algorithm each) {
    super(Operation.Kind.REDUCE, hosts);
    this.each = each;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    int root = operation.root();
    long count = operation.count();
    List<Integer> leaders = leaders(root);
    List<Integer> mates = hosts.ranks(hosts.hostOf(to.rank()));
    int leader = leaders.get(hosts.hostOf(to.rank()));
    boolean leads = to.rank() == leader;
    Place sum = Place.INPUT;
    long at = 0;
    if (mates.size() > 1) {
      // Only the root has an output.
      sum = to.rank() == root ? Place.OUTPUT : Place.SCRATCH;
      at = leads && sum == Place.SCRATCH ? to.scratch(count) : 0;
      each.write(
          to.part(mates, Place.INPUT, 0, sum, at, false),
          Operation.of(Operation.Kind.REDUCE, count, mates.indexOf(leader)),
          chunk);
    }
    if (leads) {
      each.write(
          to.part(leaders, sum, at, Place.OUTPUT, 0, true),
          Operation.of(Operation.Kind.REDUCE, count, leaders.indexOf(root)),
          chunk);
    }
  }
}
