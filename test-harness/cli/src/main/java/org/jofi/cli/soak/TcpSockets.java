package org.jofi.cli.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The TCP sockets of this process, for whoever looks for one that should be gone.
 *
 * @see <a href="https://man7.org/linux/man-pages/man5/proc_pid_net.5.html">proc_pid_net(5)</a>
 */
final class TcpSockets {
  private static final Path TABLE = Path.of("/proc/self/net/tcp");
  private static final int LOCAL = 1;
  private static final int REMOTE = 2;
  private static final int STATE = 3;
  private static final int INODE = 9;

  /** By the kernel's numbers, from 1. */
  private static final List<String> STATES =
      List.of(
          "ESTABLISHED",
          "SYN_SENT",
          "SYN_RECV",
          "FIN_WAIT1",
          "FIN_WAIT2",
          "TIME_WAIT",
          "CLOSE",
          "CLOSE_WAIT",
          "LAST_ACK",
          "LISTEN",
          "CLOSING");

  private TcpSockets() {}

  /**
   * A line for each of these descriptors that is one, as {@code ESTABLISHED 10.77.0.1:40000
   * 10.77.0.2:40001}, sorted.
   *
   * @param descriptors what the process's descriptors are links to, such as {@code socket:[17]}
   */
  static List<String> of(Set<String> descriptors) throws IOException {
    try (Stream<String> rows = Files.lines(TABLE)) {
      return rows.skip(1)
          .map(row -> row.strip().split("\\s+"))
          .filter(row -> descriptors.contains("socket:[%s]".formatted(row[INODE])))
          .map(
              row ->
                  "%s %s %s"
                      .formatted(state(row[STATE]), address(row[LOCAL]), address(row[REMOTE])))
          .sorted()
          .toList();
    }
  }

  private static String state(String hexadecimal) {
    int number = Integer.parseInt(hexadecimal, 16);
    return number >= 1 && number <= STATES.size() ? STATES.get(number - 1) : "state " + number;
  }

  /** The kernel writes the address as a number of this machine's byte order, which is little. */
  static String address(String hexadecimal) {
    String[] parts = hexadecimal.split(":", 2);
    long host = Long.parseLong(parts[0], 16);
    return "%d.%d.%d.%d:%d"
        .formatted(
            host & 0xff,
            host >> 8 & 0xff,
            host >> 16 & 0xff,
            host >> 24,
            Integer.parseInt(parts[1], 16));
  }
}
