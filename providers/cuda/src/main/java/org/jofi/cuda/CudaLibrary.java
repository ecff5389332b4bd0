package org.jofi.cuda;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jofi.fabric.FabricUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * libcuda.so.1, found and loaded once per process, when it is asked for. The generated bindings
 * look functions up among the libraries of their class loader: so it is loaded by path, into that.
 */
final class CudaLibrary {
  static final String SONAME = "libcuda.so.1";
  static final String PROPERTY = "jofi.cuda";
  static final String VARIABLE = "JOFI_CUDA";

  /** Where drivers put it that the dynamic linker is not told of. */
  private static final List<String> FOLDERS =
      List.of(
          "/usr/local/nvidia/lib64",
          "/usr/local/nvidia/lib",
          "/usr/lib/x86_64-linux-gnu",
          "/usr/lib/aarch64-linux-gnu",
          "/usr/lib64",
          "/usr/lib/wsl/lib",
          "/run/opengl-driver/lib");

  /** The oldest function that is needed and that CUDA 11.0 lacked has an answer of its own. */
  private static final List<String> NEEDED =
      List.of(
          "cuInit",
          "cuDevicePrimaryCtxRelease_v2",
          "cuMemcpyDtoHAsync_v2",
          "cuThreadExchangeStreamCaptureMode",
          "cuStreamBeginCapture_v2");

  private static @Nullable CudaLibrary loaded;

  private final String file;

  private CudaLibrary(String file) {
    this.file = file;
  }

  /**
   * The library, loaded by the first call that succeeds: the file that the property or the variable
   * names, and nothing else if one does; otherwise what the dynamic linker finds, then the folders
   * of drivers.
   *
   * @throws FabricUnavailableException if there is none, saying what was searched and what to do
   */
  static synchronized CudaLibrary load() {
    if (loaded == null) {
      loaded = search();
    }
    return loaded;
  }

  /** What was loaded: a path. */
  String file() {
    return file;
  }

  /** Whether the driver has a function that came after those that are needed. */
  static boolean has(String function) {
    return SymbolLookup.loaderLookup().find(function).isPresent();
  }

  private static CudaLibrary search() {
    List<String> tried = new ArrayList<>();
    for (String candidate : candidates(tried)) {
      String reason = tryLoad(candidate);
      if (reason == null) {
        return new CudaLibrary(candidate);
      }
      tried.add("  " + candidate + ": " + reason);
    }
    throw new FabricUnavailableException(
        """
        no CUDA driver: libcuda.so.1 could not be loaded. Searched:
        %s
        Install the NVIDIA driver, or in a container run it with --gpus all.
        Or name the file:  -D%s=PATH or %s=PATH"""
            .formatted(String.join("\n", tried), PROPERTY, VARIABLE));
  }

  private static List<String> candidates(List<String> tried) {
    String override = override();
    if (override != null) {
      return List.of(Path.of(override).toAbsolutePath().toString());
    }
    List<String> candidates = new ArrayList<>();
    Optional<String> linked = byDynamicLinker();
    linked.ifPresentOrElse(
        candidates::add, () -> tried.add("  the dynamic linker: knows no " + SONAME));
    for (String folder : FOLDERS) {
      Path path = Path.of(folder, SONAME);
      if (Files.exists(path)) {
        candidates.add(path.toString());
      } else {
        tried.add("  " + path + ": no such file");
      }
    }
    return candidates;
  }

  private static @Nullable String override() {
    String property = System.getProperty(PROPERTY, "");
    if (!property.isEmpty()) {
      return property;
    }
    String variable = System.getenv(VARIABLE);
    return variable == null || variable.isEmpty() ? null : variable;
  }

  /** The path of what the dynamic linker finds by the soname: that is then mapped. */
  @SuppressWarnings("restricted")
  private static Optional<String> byDynamicLinker() {
    try {
      SymbolLookup.libraryLookup(SONAME, Arena.global());
    } catch (IllegalArgumentException notFound) {
      return Optional.empty();
    }
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.filter(line -> line.indexOf('/') >= 0)
          .map(line -> line.substring(line.indexOf('/')))
          .filter(path -> path.matches(".*/libcuda\\.so\\.[0-9.]+"))
          .findFirst();
    } catch (IOException unreadable) {
      return Optional.empty();
    }
  }

  /** Loads it; the reason if that failed. */
  @SuppressWarnings("restricted")
  private static @Nullable String tryLoad(String candidate) {
    try {
      System.load(candidate);
    } catch (UnsatisfiedLinkError error) {
      String reason = String.valueOf(error.getMessage());
      return reason.startsWith(candidate + ": ")
          ? reason.substring(candidate.length() + 2)
          : reason;
    }
    for (String function : NEEDED) {
      if (!has(function)) {
        return "lacks %s: it is no CUDA driver, or one before CUDA 11.0".formatted(function);
      }
    }
    return null;
  }
}
