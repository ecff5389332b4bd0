package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * The stand-in for the CUDA driver of providers/cuda: two GPUs, whose memory the processor cannot
 * touch.
 */
final class CudaStandIn {
  /** Surefire runs tests in the module's folder. */
  private static final Path SOURCE =
      Path.of("..", "..", "providers", "cuda", "src", "test", "c", "cuda_double.c");

  private CudaStandIn() {}

  /** Builds it into that folder, unless there is no gcc: then the test is skipped, and says so. */
  static Path build(Path folder) throws Exception {
    boolean compiler =
        Arrays.stream(System.getenv("PATH").split(":", -1))
            .anyMatch(each -> Files.isExecutable(Path.of(each, "gcc")));
    assumeTrue(compiler, "no stand-in for the CUDA driver without gcc: apt-get install gcc");
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
    return file;
  }
}
