package org.jofi.rdma.topology;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads whether routes depend on the source: rules by source lead to tables of their own, and a
 * table that has a subnet which the main one has, too, is for that. The rules themselves are told
 * by netlink alone. IPv4 only: the kernel does not say in which table a route of IPv6 is.
 *
 * @see <a href="https://man7.org/linux/man-pages/man5/proc_pid_net.5.html">proc_pid_net(5)</a>
 */
final class SourceRoutes {
  private static final Pattern TABLE = Pattern.compile("(?:Id [0-9]+|Main|Local):");
  private static final Pattern DESTINATION = Pattern.compile("\\s+\\|-- ([0-9.]+)");
  private static final Pattern LENGTH = Pattern.compile("\\s+/([0-9]+) link UNICAST");
  private static final String BESIDE = "Id ";

  private final Map<String, Integer> tables = new HashMap<>();

  /**
   * Reads them.
   *
   * @param file fib_trie of the network namespace, below /proc; there are none if it is not there
   */
  SourceRoutes(Path file) {
    Set<String> found = new HashSet<>();
    String destination = "";
    boolean beside = false;
    for (String line : SysfsPci.read(file).split("\n", -1)) {
      Matcher to = DESTINATION.matcher(line);
      Matcher length = LENGTH.matcher(line);
      if (TABLE.matcher(line.strip()).matches()) {
        count(found);
        beside = line.startsWith(BESIDE);
      } else if (to.matches()) {
        destination = to.group(1);
      } else if (beside && length.matches()) {
        found.add(destination + "/" + length.group(1));
      }
    }
    count(found);
  }

  private void count(Set<String> ofTable) {
    ofTable.forEach(subnet -> tables.merge(subnet, 1, Integer::sum));
    ofTable.clear();
  }

  /**
   * Whether so many NICs of a subnet each send what has their address: all but one of them need a
   * table for it, since the main one is for the first.
   */
  boolean tellApart(String subnet, int nics) {
    return tables.getOrDefault(subnet, 0) >= nics - 1;
  }
}
