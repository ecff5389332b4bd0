package org.jofi.collectives.schedule;

import java.util.List;

/** A broadcast to one rank of each host, and from that to the others of its host. */
final class TwoLevelBroadcast extends TwoLevel {
  private final Algorithm each;

  /**
   * @param hosts of the ranks, several
   * @param each how it is done on either level
   */
  TwoLevelBroadcast(Hosts hosts, Algorithm each) {
    super(Operation.Kind.BROADCAST, hosts);
    this.each = each;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    int root = operation.root();
    long count = operation.count();
    List<Integer> leaders = leaders(root);
    List<Integer> mates = hosts.ranks(hosts.hostOf(to.rank()));
    int leader = leaders.get(hosts.hostOf(to.rank()));
    if (to.rank() == leader) {
      each.write(
          to.part(leaders, Place.INPUT, 0, Place.OUTPUT, 0, true),
          Operation.of(Operation.Kind.BROADCAST, count, leaders.indexOf(root)),
          chunk);
    }
    if (mates.size() > 1) {
      // The root has its array in both places by now.
      Place held = to.rank() == root ? Place.INPUT : Place.OUTPUT;
      each.write(
          to.part(mates, held, 0, held, 0, true),
          Operation.of(Operation.Kind.BROADCAST, count, mates.indexOf(leader)),
          chunk);
    }
  }
}
