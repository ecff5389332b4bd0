package org.jofi.libfabric;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.libfabric.bindings.Libfabric;
import org.jspecify.annotations.Nullable;

/**
 * Finds libfabric.so.1 and loads it once per process. The generated bindings load it by its soname,
 * and if that fails, they can never be used again in this process. So it is loaded here first, from
 * the configured file, and a failure has a message that says why.
 */
final class LibfabricLibrary {
  static final String SONAME = "libfabric.so.1";
  static final String PROPERTY = "jofi.libfabric";
  static final String VARIABLE = "JOFI_LIBFABRIC";

  private static final Path MAPS = Path.of("/proc/self/maps");
  private static final Path SYSTEM = Path.of("/sys");

  /**
   * The variable that lets fi_cxi(7) deliver immediate data with writes. It is switched on unless
   * the user has set it.
   */
  private static final String CXI_WRITE_DATA = "FI_CXI_ENABLE_WRITEDATA";

  /** The newest API version that this provider was written for, in the form of FI_VERSION. */
  private static final int WRITTEN_FOR = version(2, 1);

  private static final List<String> FOLDERS =
      List.of("/opt/amazon/efa/lib64", "/opt/amazon/efa/lib", "/opt/cray/libfabric/default/lib64");

  private static @Nullable LibfabricLibrary loaded;

  /** The variables that nobody had set: they are withdrawn when the library has read them. */
  private static final List<String> OFFERED = new ArrayList<>();

  private final String file;
  private final int version;
  private final boolean cxiWritesData;
  private final boolean rxmSendsLongPackets;
  private final Optional<ListeningPorts> ports;

  private LibfabricLibrary(String file, int version, Optional<ListeningPorts> ports) {
    this.file = file;
    this.version = version;
    this.ports = ports;
    cxiWritesData = isAtLeast(2, 5) && "1".equals(LibC.variable(CXI_WRITE_DATA));
    rxmSendsLongPackets = LayeredEagerLimit.isLong(version);
  }

  /**
   * The library; the first call that succeeds loads it. If the property or the variable names a
   * file, only that file is tried. Otherwise the dynamic linker's search comes first, then the
   * vendors' folders.
   *
   * @throws FabricUnavailableException if there is none; the message says where it was looked for
   *     and what to do. Or if the ports that were asked for are no ports
   */
  static synchronized LibfabricLibrary load() {
    if (loaded == null) {
      loaded = search();
    }
    return loaded;
  }

  /** What was loaded: a path, or the soname if the dynamic linker found it. */
  String file() {
    return file;
  }

  /** The version to pass to fi_getinfo: a library refuses versions newer than its own. */
  int apiVersion() {
    return Math.min(version, WRITTEN_FOR);
  }

  /** The library's version, as FI_VERSION encodes it. */
  int version() {
    return version;
  }

  /** Whether the library has this version or a newer one. */
  boolean isAtLeast(int major, int minor) {
    return version >= version(major, minor);
  }

  /** Whether ofi_rxm over tcp sends whole packets of short messages at once. */
  boolean layersSendLongPackets() {
    return rxmSendsLongPackets;
  }

  /** The ports at which endpoints may listen; empty for any. */
  Optional<ListeningPorts> ports() {
    return ports;
  }

  /** Whether cxi delivers immediate data with writes, where it chooses keys. */
  boolean cxiWritesData() {
    return cxiWritesData;
  }

  /**
   * The library has read these variables: its providers do when it first lists them. This process's
   * children, and others in it, see none that they did not set.
   */
  static synchronized void initialized() {
    OFFERED.forEach(LibC::withdrawVariable);
    OFFERED.clear();
  }

  /** Major and minor version of the library. */
  String versionText() {
    return major(version) + "." + minor(version);
  }

  static int version(int major, int minor) {
    return major << 16 | minor;
  }

  static int major(int version) {
    return version >>> 16;
  }

  static int minor(int version) {
    return version & 0xffff;
  }

  private static LibfabricLibrary search() {
    Optional<ListeningPorts> ports = ListeningPorts.chosen();
    String override = override();
    List<String> candidates = new ArrayList<>();
    if (override != null) {
      // It names a file even if it has no folder; the dynamic linker would search for a bare name.
      candidates.add(Path.of(override).toAbsolutePath().toString());
    } else {
      candidates.add(SONAME);
      for (String folder : FOLDERS) {
        Path file = Path.of(folder, SONAME);
        if (Files.exists(file)) {
          candidates.add(file.toString());
        }
      }
    }
    offer(CXI_WRITE_DATA, "1");
    if (!RegistrationCache.isNeeded(SYSTEM)) {
      offer(RegistrationCache.MONITOR, RegistrationCache.DISABLED);
    }
    if (ports.isPresent()) {
      LibfabricTraits.PORT_VARIABLES.forEach(
          variables -> ports.get().offer(variables, LibfabricLibrary::offer));
    }
    List<String> tried = new ArrayList<>();
    for (String candidate : candidates) {
      String reason = SignalGuard.guard(() -> tryLoad(candidate));
      if (reason == null) {
        return new LibfabricLibrary(candidate, Libfabric.fi_version(), ports);
      }
      tried.add("  " + candidate + ": " + reason);
    }
    throw new FabricUnavailableException(explanation(tried));
  }

  private static void offer(String name, String value) {
    if (LibC.offerVariable(name, value)) {
      OFFERED.add(name);
    }
  }

  private static @Nullable String override() {
    String property = System.getProperty(PROPERTY, "");
    if (!property.isEmpty()) {
      return property;
    }
    String variable = System.getenv(VARIABLE);
    return variable == null || variable.isEmpty() ? null : variable;
  }

  /** Loads a library; returns the reason if that failed, else null. */
  private static @Nullable String tryLoad(String candidate) {
    boolean isPath = candidate.indexOf('/') >= 0;
    if (isPath) {
      String reason = fileProblem(Path.of(candidate));
      if (reason != null) {
        return reason;
      }
    }
    Optional<String> other = isPath ? mapped(Path.of(candidate)) : Optional.empty();
    String reason = LibC.loadLibrary(candidate);
    if (reason != null) {
      return reason.startsWith(candidate + ": ")
          ? reason.substring(candidate.length() + 2)
          : reason;
    }
    // The bindings will load the soname. If the file has another soname, they would load a second
    // library, or fail.
    String soname = isPath ? LibC.loadLibrary(SONAME) : null;
    if (soname != null) {
      return "its soname is not %s (%s)".formatted(SONAME, soname);
    }
    return isPath && !sameLibrary(candidate) ? otherLibrary(candidate, other) : missingSymbol();
  }

  /** Another libfabric than this one that this process has already, whoever loaded it. */
  private static Optional<String> mapped(Path candidate) {
    try (Stream<String> lines = Files.lines(MAPS, StandardCharsets.UTF_8)) {
      return lines
          .filter(line -> line.indexOf('/') >= 0)
          .map(line -> line.substring(line.indexOf('/')))
          .filter(file -> file.contains("/libfabric.so") && !isSameFile(file, candidate))
          .findFirst();
    } catch (IOException | UncheckedIOException e) {
      return Optional.empty();
    }
  }

  private static boolean isSameFile(String file, Path other) {
    try {
      return Files.isSameFile(Path.of(file), other);
    } catch (IOException e) {
      return false;
    }
  }

  private static @Nullable String fileProblem(Path file) {
    if (!Files.exists(file)) {
      return "no such file";
    }
    if (Files.isDirectory(file)) {
      return "is a directory; name the file %s in it".formatted(SONAME);
    }
    return Files.isReadable(file) ? ElfHeader.problem(file) : "not readable";
  }

  @SuppressWarnings("restricted")
  private static boolean sameLibrary(String candidate) {
    SymbolLookup own = SymbolLookup.libraryLookup(Path.of(candidate), Arena.global());
    SymbolLookup bySoname = SymbolLookup.libraryLookup(SONAME, Arena.global());
    return own.find("fi_getinfo").equals(bySoname.find("fi_getinfo"));
  }

  /**
   * @param other the libfabric that the process had before
   */
  private static String otherLibrary(String candidate, Optional<String> other) {
    return other
        .map(
            file ->
                "this process has another libfabric already, and one process has one: %s. Use that (%s=%s), or let whoever loads it take this one (LD_LIBRARY_PATH)"
                    .formatted(file, VARIABLE, file))
        .orElseGet(
            () ->
                "its soname is not %s: the dynamic linker takes another file for it than %s"
                    .formatted(SONAME, candidate));
  }

  @SuppressWarnings("restricted")
  private static @Nullable String missingSymbol() {
    SymbolLookup lookup = SymbolLookup.libraryLookup(SONAME, Arena.global());
    for (String symbol : List.of("fi_getinfo", "fi_fabric", "fi_version", "fi_dupinfo")) {
      if (lookup.find(symbol).isEmpty()) {
        return "is no libfabric: it lacks " + symbol;
      }
    }
    return null;
  }

  private static String explanation(List<String> tried) {
    StringBuilder text = new StringBuilder("libfabric could not be loaded. Searched:\n");
    tried.forEach(line -> text.append(line).append('\n'));
    text.append("Install it:        ").append(installLine()).append('\n');
    text.append("Or name the file:  -D%s=PATH or %s=PATH".formatted(PROPERTY, VARIABLE));
    return text.toString();
  }

  private static String installLine() {
    String system = "";
    try {
      system = Files.readString(Path.of("/etc/os-release")).toLowerCase(Locale.ROOT);
    } catch (IOException unknown) {
      // The system is unknown, so use the most common command.
      system = "debian";
    }
    return system.contains("rhel") || system.contains("fedora") || system.contains("suse")
        ? "the package libfabric of your distribution"
        : "apt-get install libfabric1";
  }
}
