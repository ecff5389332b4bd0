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
 * Finds libcuda.so.1 and loads it once per process, when it is first needed. It is loaded by path
 * into the class loader of the generated bindings, because they look up functions in the libraries
 * of their class loader.
 */
final class CudaLibrary {
  static final String SONAME = "libcuda.so.1";
  static final String PROPERTY = "jofi.cuda";
  static final String VARIABLE = "JOFI_CUDA";

  /** Folders where drivers put it and the dynamic linker does not search. */
  private static final List<String> FOLDERS =
      List.of(
          "/usr/local/nvidia/lib64",
          "/usr/local/nvidia/lib",
          "/usr/lib/x86_64-linux-gnu",
          "/usr/lib/aarch64-linux-gnu",
          "/usr/lib64",
          "/usr/lib/wsl/lib",
          "/run/opengl-driver/lib");

  /**
   * Functions that every driver since CUDA 11.0 has. Newer functions are looked for with {@link
   * #has}.
   */
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
   * The library; the first call that succeeds loads it. If the property or the variable names a
   * file, only that file is tried. Otherwise the dynamic linker's search comes first, then the
   * folders of drivers.
   *
   * @throws FabricUnavailableException if there is none; the message says where it was looked for
   *     and what to do
   */
  static synchronized CudaLibrary load() {
    if (loaded == null) {
      loaded = search();
    }
    return loaded;
  }

  /** The path of the library that was loaded. */
  String file() {
    return file;
  }

  /** Whether the driver has a function that only newer drivers have. */
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

  /** The path of the library that the dynamic linker finds by the soname; the search maps it. */
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

  /** Loads a library; returns the reason if that failed, else null. */
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
