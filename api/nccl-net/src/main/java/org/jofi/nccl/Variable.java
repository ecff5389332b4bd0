package org.jofi.nccl;

import java.util.Arrays;
import java.util.List;

/**
 * The environment variables that somebody of this project reads: {@code JOFI_} and the constant's
 * name. docs/VARIABLES.md is made of them.
 */
enum Variable {
  PROVIDER(
      Reader.PLUGIN,
      "a provider's name",
      "hardware before software",
      "which of libfabric's providers: efa, cxi, tcp, shm…; efa-direct is the efa provider's other"
          + " fabric"),
  NICS(
      Reader.BOTH,
      "names of NICs, or what they begin with, as eth,ib; =eth0,eth1; ^docker",
      "all",
      "which NICs may be used, as NCCL_SOCKET_IFNAME has it: `eth,ib` (what begins so), `=eth0,eth1`"
          + " (exactly these), `^docker,virbr` (all but what begins so), `^=eth3`"),
  PORTS(
      Reader.BOTH,
      "the first and the last port, as 14000-14100",
      "any that the kernel gives",
      "at which endpoints over tcp, net, sockets and udp may listen, for a firewall that lets these"
          + " pass: [what to open](TROUBLESHOOTING.md#firewalls)"),
  GROUPING(
      Reader.PLUGIN,
      "locality, each-nic, together, or NICs by name as a,b;c,d",
      "locality",
      "which NICs are the rails of one device"),
  MAX_RAILS(Reader.PLUGIN, "a number, 1 to 8", "8", "rails of a device, at most"),
  ENDPOINTS_PER_DEVICE(
      Reader.PLUGIN,
      "a number, 1 to 64",
      "1, or 4 with progress threads",
      "with more, more communicators can run at once"),
  PROGRESS_THREADS(
      Reader.PLUGIN,
      "auto, always or never",
      "auto",
      "whether endpoints have threads of their own, besides NCCL's"),
  MIN_STRIPE_BYTES(
      Reader.PLUGIN,
      "a number of bytes, a multiple of 128",
      "131072",
      "what goes over one rail at least, if a message goes over several"),
  EAGER_BYTES(
      Reader.PLUGIN,
      "auto, or a number of bytes",
      "auto: what suits the provider",
      "up to 65472: messages up to this from host memory may leave before their receive is"
          + " announced; 0 turns that off"),
  IMMEDIATE_DELIVERY(
      Reader.PLUGIN,
      "auto, write-data or write-then-send",
      "auto",
      "how the receiver learns that a stripe was written"),
  FLUSH(
      Reader.PLUGIN,
      "auto, always or never",
      "auto",
      "whether what was received into GPU memory is flushed"),
  KEEP_REGISTRATIONS(
      Reader.PLUGIN,
      "a number",
      "0: NCCL is about to free it",
      "how many registrations are kept that NCCL gave back, for memory that it registers again"),
  CONNECT_TIMEOUT(Reader.PLUGIN, Values.SECONDS, "30", "how long a connection may take to be made"),
  REQUEST_TIMEOUT(
      Reader.PLUGIN, Values.SECONDS, "60", "how long a request may go without progress"),
  PEER_TIMEOUT(Reader.PLUGIN, Values.SECONDS, "10", "how long a peer may be silent"),
  CLOSE_TIMEOUT(Reader.PLUGIN, Values.SECONDS, "5", "how long closing an endpoint may take"),
  WARM_UP(
      Reader.PLUGIN,
      Values.SECONDS,
      "1",
      "up to 60: how long a device first sends messages to itself, so that the JIT compiler has"
          + " compiled the transport; 0 turns that off"),
  LIBFABRIC(
      Reader.BOTH,
      "a libfabric.so.1",
      "the plugin folder's own, else the system's",
      "the libfabric to load"),
  CUDA(Reader.BOTH, "a libcuda.so.1", "the system's", "the CUDA driver's library to load"),
  COUNTERS(
      Reader.BOTH,
      "off, or the absolute path of a folder",
      "/dev/shm/jofi-USER",
      "where processes have the [counters](COUNTERS.md) that `jofi stat` shows; the folder is made,"
          + " and must be the user's own and closed to others"),
  JAVA_HOME(
      Reader.PLUGIN,
      "a folder",
      "",
      "where to find a JVM if the plugin's folder has no `jre`; after it JAVA_HOME"),
  JVM_OPTS(
      Reader.PLUGIN,
      "options, with spaces between",
      "-XX:+UseSerialGC -Xms32m -Xmn16m -Xmx256m",
      "options for the JVM; whatever they do not say of heap and collector is as by default"),
  JAVA_OPTS(Reader.COMMANDS, "options, with spaces between", "", "further options for java"),
  JVM_DIR(Reader.COMMANDS, "a folder", "/usr/lib/jvm", "where JDKs are looked for"),
  NO_INSTALL(
      Reader.COMMANDS, "anything", "", "nothing is installed: the line to type is printed instead"),
  NO_BUILD(Reader.COMMANDS, "anything", "", "nothing is built: what was built last is run"),
  RANK(Reader.COMMANDS, "a number", "", "set by jofi for the ranks that it starts"),
  WORLD_SIZE(Reader.COMMANDS, "a number", "", "likewise"),
  BOOTSTRAP_SECRET(
      Reader.COMMANDS,
      "any text that nobody guesses",
      "",
      "likewise: what the ranks of a run prove to know; to be set for ranks that others start, and"
          + " for programs with org.jofi.ranks"),
  PARENT(Reader.COMMANDS, "a process id", "", "likewise: with whom a rank ends"),
  TERMINAL(Reader.TESTS, "anything", "", "whether progress is a line that is written over"),
  LIBRARY_PATH(
      Reader.TESTS, "folders", "", "where processes of tests find libraries, besides the system's"),
  DEBIAN_MIRROR(Reader.TESTS, "an address", "", "where a bare machine is fetched from");

  private static final String PREFIX = "JOFI_";

  private final Reader reader;
  private final String expected;
  private final String usual;
  private final String meaning;

  /** Who reads a variable. */
  enum Reader {
    /** NCCL's plugin. */
    PLUGIN("NCCL's plugin"),
    /** The commands. */
    COMMANDS("commands"),
    BOTH("commands, NCCL's plugin"),
    TESTS("tests");

    private final String title;

    Reader(String title) {
      this.title = title;
    }
  }

  /** What several have. */
  private static final class Values {
    static final String SECONDS = "a number of seconds, such as 30 or 0.5";
  }

  Variable(Reader reader, String expected, String usual, String meaning) {
    this.reader = reader;
    this.expected = expected;
    this.usual = usual;
    this.meaning = meaning;
  }

  /** Its name in the environment. */
  String title() {
    return PREFIX + name();
  }

  /** What it may be set to, for errors. */
  String expected() {
    return expected;
  }

  /** Whether a name looks like one of these. */
  static boolean isOurs(String title) {
    return title.startsWith(PREFIX);
  }

  /** The names of all. */
  static List<String> titles() {
    return Arrays.stream(values()).map(Variable::title).toList();
  }

  /** Its line in a table. */
  String row() {
    return "| `%s` | %s | %s | %s | %s |"
        .formatted(title(), reader.title, expected, usual, meaning);
  }
}
