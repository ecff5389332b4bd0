package org.jofi.cli;

import java.time.Duration;
import java.util.Map;
import org.jofi.cli.ranks.Placement;
import org.jofi.transport.TransportOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What commands that run ranks take alike. */
final class RankOptions {
  private static final Duration CLOSE_WITHIN = Duration.ofSeconds(2);

  @Option(
      names = {"-p", "--provider"},
      paramLabel = "P",
      description =
          "A provider that libfabric lists, such as efa, cxi, tcp or shm; or sim:efa, sim:cxi,"
              + " sim:cxi-client-key or sim:tcp: the simulated fabric, ranks as threads. Default:"
              + " the best that is here; the simulated fabric where there is no libfabric.")
  @Nullable String provider;

  @Option(
      names = {"-d", "--device"},
      paramLabel = "NAME",
      defaultValue = "",
      description =
          "The device, or one of its NICs, as jofi info --devices lists them; or several NICs with"
              + " commas between, as the rails of one. Default: the first device.")
  String device;

  @Option(
      names = "--rails",
      paramLabel = "R",
      defaultValue = "0",
      description =
          "Rails to spread messages over, 1 to 8. A device with fewer NICs has them opened several"
              + " times. Default: the device's NICs.")
  int rails;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "Fail when nothing happens for so long, 1 to 3600. Default: ${DEFAULT-VALUE}.")
  int timeoutSeconds;

  @Option(names = "--json", description = "Print JSON in place of the table.")
  boolean json;

  /** Where a bar shall be drawn, the process that has the terminal says so to those it starts. */
  @Option(names = "--progress", hidden = true)
  boolean progress;

  /**
   * @throws IllegalArgumentException naming the option that is out of bounds
   */
  void check() {
    if (rails < 0 || rails > TransportOptions.MAX_RAILS) {
      throw new IllegalArgumentException(
          "--rails must be 1 to %d, is %d".formatted(TransportOptions.MAX_RAILS, rails));
    }
    if (timeoutSeconds < 1 || timeoutSeconds > 3600) {
      throw new IllegalArgumentException("--timeout must be 1 to 3600, is " + timeoutSeconds);
    }
  }

  Duration timeout() {
    return Duration.ofSeconds(timeoutSeconds);
  }

  /** What ranks must have been started with alike. */
  void describe(Map<String, String> parameters) {
    parameters.put("--provider", provider == null ? "" : provider);
    parameters.put("--rails", rails == 0 ? "" : Integer.toString(rails));
  }

  /**
   * Options of a transport with these timeouts; who waits for a dead rank to close gives up soon.
   */
  TransportOptions.Builder transport() {
    return TransportOptions.builder()
        .connectTimeout(timeout())
        .requestTimeout(timeout())
        .closeTimeout(CLOSE_WITHIN);
  }

  /**
   * Where users say ranks meet: a host, and maybe a port.
   *
   * @throws IllegalArgumentException if it is neither
   */
  static Placement placement(int rank, int size, String address, String option) {
    int colon = address.lastIndexOf(':');
    String host = colon < 0 ? address : address.substring(0, colon);
    int port = Placement.USUAL_PORT;
    try {
      if (colon >= 0) {
        port = Integer.parseInt(address.substring(colon + 1));
      }
    } catch (NumberFormatException e) {
      port = 0;
    }
    if (host.isEmpty() || port < 1 || port > 65_535) {
      throw new IllegalArgumentException(
          "%s takes HOST or HOST:PORT, not '%s'".formatted(option, address));
    }
    return new Placement(rank, size, host, port, option);
  }
}
