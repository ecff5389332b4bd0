package org.jofi.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A driver of our own making, built by gcc: what it does is set from here. */
@SuppressWarnings("restricted")
final class CudaDouble {
  private static final Path SOURCE = Path.of("src/test/c/cuda_double.c");

  private static Path built = Path.of("");
  private static SymbolLookup symbols = name -> java.util.Optional.empty();

  private CudaDouble() {}

  /** Builds it, unless there is no gcc: then the test is skipped, and says so. */
  static synchronized Path file() throws IOException, InterruptedException {
    boolean compiler =
        Arrays.stream(System.getenv("PATH").split(":", -1))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "gcc")));
    assumeTrue(compiler, "no stand-in for the CUDA driver without gcc: apt-get install gcc");
    if (built.toString().isEmpty()) {
      Path folder = Files.createTempDirectory(Path.of("target"), "double");
      Path file = folder.resolve("libcuda.so.1").toAbsolutePath();
      Process gcc =
          new ProcessBuilder(
                  "gcc",
                  "-shared",
                  "-fPIC",
                  "-pthread",
                  "-Wl,-soname,libcuda.so.1",
                  "-o",
                  file.toString(),
                  SOURCE.toString())
              .inheritIO()
              .start();
      assertTrue(gcc.waitFor(60, TimeUnit.SECONDS), "gcc hangs");
      assertEquals(0, gcc.exitValue(), "gcc failed");
      built = file;
    }
    return built;
  }

  /** Makes it the driver of this process. */
  static synchronized void install() throws IOException, InterruptedException {
    String file = file().toString();
    System.setProperty(CudaLibrary.PROPERTY, file);
    assertEquals(file, CudaLibrary.load().file());
    symbols = SymbolLookup.libraryLookup(Path.of(file), Arena.global());
  }

  /** The next calls of that function answer so. */
  static void fail(String function, int code, int times) {
    try (Arena arena = Arena.ofConfined()) {
      call("double_fail", arena.allocateFrom(function).address(), code, times);
    }
  }

  static void attribute(int attribute, int value) {
    call("double_attribute", attribute, value);
  }

  /** Streams, events, modules, pinned ranges, allocations and contexts that are out. */
  static int open() {
    return (int) call("double_open");
  }

  static long current() {
    return call("double_current");
  }

  static void setCurrent(long context) {
    call("double_set_current", context);
  }

  static int mode() {
    return (int) call("double_mode");
  }

  static void setMode(int mode) {
    call("double_set_mode", mode);
  }

  private static long call(String name, long... arguments) {
    ValueLayout[] types = new ValueLayout[arguments.length];
    Arrays.fill(types, ValueLayout.JAVA_LONG);
    MethodHandle handle =
        Linker.nativeLinker()
            .downcallHandle(
                symbols.findOrThrow(name), FunctionDescriptor.of(ValueLayout.JAVA_LONG, types));
    try {
      return (long) handle.invokeWithArguments(Arrays.stream(arguments).boxed().toArray());
    } catch (Throwable e) {
      throw new AssertionError(name, e);
    }
  }

  /** Paths of libraries of that name that are mapped into this process. */
  static Stream<String> mapped(String name) throws IOException {
    return Files.readAllLines(Path.of("/proc/self/maps")).stream()
        .filter(line -> line.contains(name));
  }
}
