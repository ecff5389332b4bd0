package org.jofi.collectives.schedule;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Which ranks share a host, and reach each other over memory. Hosts are numbered in the order of
 * their first ranks. Immutable; any thread.
 */
public final class Hosts {
  private final int[] hostOf;
  private final List<List<Integer>> ranks;

  private Hosts(int[] hostOf) {
    this.hostOf = hostOf;
    int hosts = Arrays.stream(hostOf).max().orElse(-1) + 1;
    ranks =
        IntStream.range(0, hosts)
            .mapToObj(
                host ->
                    IntStream.range(0, hostOf.length)
                        .filter(rank -> hostOf[rank] == host)
                        .boxed()
                        .toList())
            .toList();
  }

  /**
   * {@return ranks of which nothing is known: each is taken to be on a host of its own}
   *
   * @param size how many ranks there are
   */
  public static Hosts unknown(int size) {
    return new Hosts(IntStream.range(0, size).toArray());
  }

  /**
   * {@return ranks by the names of their hosts}
   *
   * @param names of each rank its host's; an empty one is another host than any other
   */
  public static Hosts of(Collection<String> names) {
    Map<String, Integer> known = new LinkedHashMap<>();
    List<Integer> hostOf = new ArrayList<>();
    int hosts = 0;
    for (String name : names) {
      Integer host = name.isEmpty() ? null : known.get(name);
      if (host == null) {
        host = hosts++;
        if (!name.isEmpty()) {
          known.put(name, host);
        }
      }
      hostOf.add(host);
    }
    return new Hosts(hostOf.stream().mapToInt(Integer::intValue).toArray());
  }

  /**
   * {@return the hosts of some of these ranks, which have the numbers of their order there}
   *
   * @param chosen their numbers here
   */
  public Hosts among(List<Integer> chosen) {
    return of(chosen.stream().map(rank -> Integer.toString(hostOf[rank])).toList());
  }

  /** {@return how many ranks there are} */
  public int size() {
    return hostOf.length;
  }

  /** {@return how many hosts there are} */
  public int count() {
    return ranks.size();
  }

  /**
   * {@return the number of a rank's host, from 0}
   *
   * @param rank its number
   */
  public int hostOf(int rank) {
    return hostOf[rank];
  }

  /**
   * {@return the ranks of a host, in order}
   *
   * @param host its number
   */
  public List<Integer> ranks(int host) {
    return ranks.get(host);
  }

  /**
   * {@return whether two ranks share a host}
   *
   * @param one a rank
   * @param other a rank
   */
  public boolean share(int one, int other) {
    return hostOf[one] == hostOf[other];
  }

  /** {@return whether there are several hosts, and several ranks on one of them} */
  public boolean areTwoLevels() {
    return count() > 1 && count() < size();
  }

  /** {@return the least number of ranks that a host has} */
  int fewest() {
    return ranks.stream().mapToInt(List::size).min().orElse(0);
  }

  /** {@return in words how many ranks are on how many hosts} */
  @Override
  public String toString() {
    String each =
        ranks.stream().map(of -> Integer.toString(of.size())).collect(Collectors.joining(" + "));
    return "%d ranks on %d host%s (%s)".formatted(size(), count(), count() == 1 ? "" : "s", each);
  }
}
