package org.jofi.doctor;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jofi.doctor.machine.MachineFiles;
import org.jofi.doctor.machine.Reading;

/**
 * Checks whether several interfaces are in one subnet: the kernel routes by the address of the peer
 * alone, so that all that goes there leaves by the first of them, unless rules by source choose
 * another table.
 *
 * @see <a href="https://man7.org/linux/man-pages/man5/proc_pid_net.5.html">proc_pid_net(5)</a>
 */
final class SubnetCheck implements Check {
  private static final String NAME = "subnet";
  private static final String ROUTES = "/proc/self/net/route";
  private static final String TABLES = "/proc/self/net/fib_trie";

  /** Interface, destination, gateway, flags, and three numbers before the mask. */
  private static final Pattern ROUTE =
      Pattern.compile(
          "(\\S+)\\s+(\\p{XDigit}{8})\\s+00000000\\s+\\p{XDigit}+(?:\\s+\\d+){3}\\s+(\\p{XDigit}{8})\\b.*");

  /** A table beside those that every machine has. */
  private static final Pattern TABLE = Pattern.compile("(?m)^Id \\d+:");

  /** Each interface without an address of its own has one of these. */
  private static final String LINK_LOCAL = "169.254.0.0/16";

  @Override
  public List<Finding> examine(Patient patient) {
    MachineFiles files = patient.machine().files();
    List<String> read = List.of(ROUTES, TABLES);
    Reading routes = files.read(ROUTES);
    if (!routes.ok()) {
      return List.of(Finding.skip(NAME, "", "the routes of this machine are not known", read));
    }
    Map<String, Set<String>> shared = subnets(routes.text());
    shared.values().removeIf(interfaces -> interfaces.size() < 2);
    if (shared.isEmpty()) {
      return List.of(Finding.pass(NAME, "", "no two interfaces in one subnet", read));
    }
    String all =
        shared.entrySet().stream()
            .map(subnet -> String.join(", ", subnet.getValue()) + " in " + subnet.getKey())
            .collect(Collectors.joining("; "));
    return List.of(
        TABLE.matcher(files.read(TABLES).text()).find()
            ? Finding.pass(NAME, "", all + "; there are tables of routes by source", read)
            : Finding.warn(
                NAME,
                "",
                all + ": what goes there leaves by the first, whatever address it has",
                read,
                remedy(shared.entrySet().iterator().next())));
  }

  private static String remedy(Map.Entry<String, Set<String>> subnet) {
    String last = List.copyOf(subnet.getValue()).getLast();
    return "ip route add %s dev %s src ADDRESS table 101; ip rule add from ADDRESS table 101, with the ADDRESS of %s, on each machine; or JOFI_NICS=^=%s"
        .formatted(subnet.getKey(), last, last, last);
  }

  /** The interfaces of each subnet that is reached without a gateway. */
  private static Map<String, Set<String>> subnets(String routes) {
    Map<String, Set<String>> found = new TreeMap<>();
    for (String line : routes.split("\n", -1)) {
      Matcher route = ROUTE.matcher(line);
      if (route.matches()) {
        int mask = number(route.group(3));
        String subnet = "%s/%d".formatted(address(number(route.group(2))), Integer.bitCount(mask));
        if (mask != 0 && !subnet.equals(LINK_LOCAL)) {
          found.computeIfAbsent(subnet, _ -> new TreeSet<>()).add(route.group(1));
        }
      }
    }
    return found;
  }

  /** As the kernel prints an address of the network's byte order. */
  private static int number(String hexadecimal) {
    return Integer.reverseBytes(Integer.parseUnsignedInt(hexadecimal, 16));
  }

  private static String address(int number) {
    return "%d.%d.%d.%d"
        .formatted(number >>> 24 & 0xff, number >>> 16 & 0xff, number >>> 8 & 0xff, number & 0xff);
  }
}
