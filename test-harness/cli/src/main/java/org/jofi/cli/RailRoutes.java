package org.jofi.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jofi.cli.ranks.FabricEnd.Rail;
import org.jofi.transport.RailStatus;

/**
 * Finds rails whose bytes left by another NIC: the kernel routes by the peer's address alone, so of
 * two NICs in one subnet it uses the first, whatever address a connection is bound to. The NICs'
 * own counters tell.
 */
final class RailRoutes {
  /** Less may be lost among what others send. */
  private static final long LEAST_BYTES = 1 << 20;

  /** A rail is astray if its NIC sent less than one of so many of its bytes. */
  private static final long PART = 4;

  private static final long UNKNOWN = -1;

  private final Path interfaces;
  private final List<Rail> rails;
  private final List<Long> before;

  /**
   * Reads the counters before anything is sent.
   *
   * @param interfaces where the kernel tells of them: /sys/class/net
   */
  RailRoutes(Path interfaces, List<Rail> rails) {
    this.interfaces = interfaces;
    this.rails = rails;
    before = rails.stream().map(this::sent).toList();
  }

  private long sent(Rail rail) {
    try {
      Path counter = interfaces.resolve(rail.nic()).resolve("statistics/tx_bytes");
      return Long.parseLong(Files.readString(counter, StandardCharsets.US_ASCII).strip());
    } catch (IOException | NumberFormatException e) {
      return UNKNOWN;
    }
  }

  /**
   * A sentence for each rail whose bytes left by another NIC.
   *
   * @param carried what each rail carried to a peer on another machine
   */
  List<String> astray(List<RailStatus> carried) {
    List<String> found = new ArrayList<>();
    for (RailStatus status : carried) {
      Rail rail = rails.get(status.rail());
      long given = status.written().bytes();
      long was = before.get(status.rail());
      long sent = was == UNKNOWN ? UNKNOWN : sent(rail) - was;
      if (given >= LEAST_BYTES && sent >= 0 && sent < given / PART) {
        found.add(
            ("rail %d: NIC %s sent %d bytes, of %d that were given to it: they left by another NIC,"
                    + " so that this one adds nothing.%s")
                .formatted(status.rail(), rail.nic(), sent, given, remedy(rail)));
      }
    }
    return found;
  }

  private String remedy(Rail rail) {
    boolean shares =
        rails.stream()
            .anyMatch(other -> !other.equals(rail) && other.subnet().equals(rail.subnet()));
    String address = rail.address();
    int table = 100 + rails.indexOf(rail);
    return shares && !address.isEmpty() && address.indexOf(':') < 0
        ? " Two NICs are in %s; give each a route of its own, on both machines, or leave one out with -d:%n  ip route add %s dev %s src %s table %d; ip rule add from %s table %d"
            .formatted(rail.subnet(), rail.subnet(), rail.nic(), address, table, address, table)
        : " See `ip route get` for the peer's address";
  }
}
