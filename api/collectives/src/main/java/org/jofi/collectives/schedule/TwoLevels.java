package org.jofi.collectives.schedule;

import java.util.List;
import java.util.stream.IntStream;

/** What algorithms have in common that distinguish ranks of one host from others. */
final class TwoLevels {
  /** Of each of them. */
  static final String NAME = "two-level";

  private TwoLevels() {}

  /** One rank of each host, by host: the root for its own, and the first of each other one. */
  static List<Integer> leaders(Hosts hosts, int root) {
    return IntStream.range(0, hosts.count())
        .mapToObj(host -> host == hosts.hostOf(root) ? root : hosts.ranks(host).getFirst())
        .toList();
  }
}
