package org.jofi.collectives.schedule;

import java.util.List;
import java.util.stream.IntStream;

/** An algorithm that distinguishes ranks of one host from others. */
abstract class TwoLevel implements Algorithm {
  /** Of each of them. */
  static final String NAME = "two-level";

  final Hosts hosts;
  private final Operation.Kind kind;

  /**
   * @param kind what it carries out
   * @param hosts of the ranks, several
   */
  TwoLevel(Operation.Kind kind, Hosts hosts) {
    this.kind = kind;
    this.hosts = hosts;
  }

  @Override
  public final String name() {
    return NAME;
  }

  @Override
  public final boolean fits(Operation operation, int size) {
    return operation.kind() == kind && size == hosts.size() && hosts.areTwoLevels();
  }

  /** One rank of each host, by host: the root for its own, and the first of each other one. */
  final List<Integer> leaders(int root) {
    return IntStream.range(0, hosts.count())
        .mapToObj(host -> host == hosts.hostOf(root) ? root : hosts.ranks(host).getFirst())
        .toList();
  }
}
