package org.jofi.cli;

import java.time.Duration;
import java.util.Map;
import java.util.function.IntToLongFunction;
import org.jofi.cli.ranks.FabricChoice;
import org.jofi.cli.ranks.Preparation;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.transport.NicNames;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Tuning;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The options that all commands with ranks have in common. */
final class RankOptions {
  private static final String NICS = "JOFI_NICS";
  private static final String PORTS = "jofi.ports";
  private static final String AUTO = "auto";
  private static final long PERCENT = 100;
  private static final Duration CLOSE_WITHIN = Duration.ofSeconds(2);

  @Option(
      names = {"-p", "--provider"},
      paramLabel = "P",
      description =
          "A provider that libfabric lists, such as efa, cxi, tcp or shm; or sim:efa, sim:cxi,"
              + " sim:cxi-client-key or sim:tcp: the simulated fabric, ranks as threads. On libfabric"
              + " 1, tcp is 'tcp;ofi_rxm'; what jofi conform calls tcp is net there. Default:"
              + " the best that is here; the simulated fabric where there is no libfabric.")
  @Nullable String provider;

  @Option(
      names = {"-d", "--device"},
      paramLabel = "NAME",
      defaultValue = "",
      description =
          "The device, or one of its NICs, as jofi info --devices lists them, or what its name"
              + " begins with; or several NICs with commas between, as the rails of one. =a,b takes"
              + " names as they are, ^a,b leaves out what begins with these. JOFI_NICS says the same"
              + " for all commands. Default: the first device.")
  String device;

  @Option(
      names = "--rails",
      paramLabel = "R",
      description =
          "Rails to spread messages over, 1 to 8. A device with fewer NICs has them opened several"
              + " times. Default: the device's NICs.")
  @Nullable Integer rails;

  /** The library is asked for them when it is loaded, so that it is told here. */
  @Option(
      names = "--ports",
      paramLabel = "LOW-HIGH",
      description =
          "Ports at which endpoints over tcp, net, sockets and udp may listen, such as 14000-14100,"
              + " for a firewall that lets these pass. JOFI_PORTS says the same for all commands."
              + " Default: any that the kernel gives.")
  void listenAt(String ports) {
    System.setProperty(PORTS, ports);
  }

  @Option(
      names = "--progress-threads",
      paramLabel = "WHEN",
      defaultValue = "never",
      description =
          "Progress threads, each with an endpoint and a domain of its own: auto (if CPUs copy the"
              + " data and there are 16 or more), always or never. Default: ${DEFAULT-VALUE}.")
  ProgressThreads progressThreads;

  @Option(
      names = "--eager",
      paramLabel = "BYTES",
      defaultValue = AUTO,
      description =
          "Longest message that may leave before its receive is announced, up to 65472; 0 turns"
              + " that off. Default: ${DEFAULT-VALUE}, which is what suits the provider.")
  String eager;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "Fail after this time without progress, 1 to 3600. Default: ${DEFAULT-VALUE}.")
  int timeoutSeconds;

  @Option(
      names = "--peer-timeout",
      paramLabel = "SECONDS",
      defaultValue = "10",
      description =
          "Take a peer for lost that says nothing for this time, 1 to 3600: more for one that a"
              + " debugger or a long pause stops. Default: ${DEFAULT-VALUE}.")
  int peerTimeoutSeconds;

  @Option(
      names = "--prepare",
      paramLabel = "SECONDS",
      defaultValue = "6",
      description =
          "Before the first measurement, run rounds like the measured ones until they get no faster"
              + " and the JIT compiler is done, for this time at most, 0 to 60. 0 turns it off; a"
              + " simulated fabric does without. Default: ${DEFAULT-VALUE}.")
  double prepareSeconds;

  @Option(
      names = {"-v", "--verbose"},
      description = "Print also what the registration cache did.")
  boolean verbose;

  @Option(names = "--json", description = "Print JSON in place of the table.")
  boolean json;

  /**
   * Whether to draw a progress bar. The process that has the terminal passes this to the processes
   * that it starts.
   */
  @Option(names = "--progress", hidden = true)
  boolean progress;

  /**
   * Whether ranks that are started here are threads of this process on libfabric, too, as they
   * always are on a simulated fabric. What they do is the same; tests do without a JVM for each.
   */
  @Option(names = "--rank-threads", hidden = true)
  boolean rankThreads;

  /**
   * @throws IllegalArgumentException if an option is out of bounds; the message names it
   */
  void check() {
    if (device.startsWith("^") || device.startsWith("=")) {
      NicNames.of(device);
    }
    nics();
    if (rails != null && (rails < 1 || rails > TransportOptions.MAX_RAILS)) {
      throw new IllegalArgumentException(
          "--rails must be 1 to %d, is %d".formatted(TransportOptions.MAX_RAILS, rails));
    }
    if (eagerBytes() > Tuning.MOST_EAGER_BYTES) {
      throw new IllegalArgumentException(
          "--eager must be auto, or 0 to %d bytes, is %s"
              .formatted(Tuning.MOST_EAGER_BYTES, eager));
    }
    if (!(prepareSeconds >= 0 && prepareSeconds <= 60)) {
      throw new IllegalArgumentException("--prepare must be 0 to 60, is " + prepareSeconds);
    }
    if (timeoutSeconds < 1 || timeoutSeconds > 3600) {
      throw new IllegalArgumentException("--timeout must be 1 to 3600, is " + timeoutSeconds);
    }
    if (peerTimeoutSeconds < 1 || peerTimeoutSeconds > 3600) {
      throw new IllegalArgumentException(
          "--peer-timeout must be 1 to 3600, is " + peerTimeoutSeconds);
    }
  }

  private long eagerBytes() {
    return eager.equals(AUTO) ? Tuning.EAGER_BY_PROVIDER : ByteSizes.parse(eager);
  }

  Duration timeout() {
    return Duration.ofSeconds(timeoutSeconds);
  }

  /**
   * Adds the options that must be the same for all ranks. What provider and rails they chose is
   * compared when each has opened its device.
   */
  void describe(Map<String, String> parameters) {
    parameters.put("--eager", eager);
    parameters.put("--prepare", Double.toString(prepareSeconds));
  }

  /** Those that the site lets be used, as for NCCL's plugin. */
  private static NicNames nics() {
    String names = System.getenv(NICS);
    try {
      return names == null ? NicNames.ANY : NicNames.of(names);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("%s: %s".formatted(NICS, e.getMessage()), e);
    }
  }

  /**
   * Options of a transport with these timeouts. The close timeout is short, so that a rank does not
   * wait long for a dead one.
   */
  TransportOptions.Builder transport() {
    return TransportOptions.builder()
        .nics(nics())
        .progressThreads(progressThreads)
        .tuning(Tuning.DEFAULT.withEagerBytes((int) eagerBytes()))
        .connectTimeout(timeout())
        .requestTimeout(timeout())
        .peerTimeout(Duration.ofSeconds(peerTimeoutSeconds))
        .closeTimeout(CLOSE_WITHIN);
  }

  /**
   * Prepares a rank as these options say; see {@link Preparation#run}.
   *
   * @param prints whether this rank shows how far it is, if there is a terminal
   */
  Preparation prepare(
      CommandSpec spec,
      boolean prints,
      FabricChoice fabric,
      RingLinks links,
      IntToLongFunction batch) {
    long nanos = fabric.isSimulated() ? 0 : Math.round(prepareSeconds * 1e9);
    try (RankReport bar = new RankReport(spec, this, prints, "prepare", PERCENT)) {
      return Preparation.run(
          links, nanos, batch, done -> bar.accept(Math.min(PERCENT, PERCENT * done / nanos)));
    }
  }

  /** How many rails to use; 0 for as many as a device has. */
  int railCount() {
    return rails == null ? 0 : rails;
  }

  /** An optional number as text, to compare between ranks. */
  static String told(@Nullable Integer number) {
    return number == null ? "" : number.toString();
  }

  /**
   * The given number, or the default if none was given.
   *
   * @throws IllegalArgumentException if the given number is out of bounds
   */
  static int number(String option, @Nullable Integer given, int least, int otherwise) {
    if (given != null && given < least) {
      throw new IllegalArgumentException(
          "%s must be %d or more, is %d".formatted(option, least, given));
    }
    return given == null ? otherwise : given;
  }
}
