package org.jofi.efadouble;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * The double's libraries and programs, made of its sources when they are newer.
 *
 * @param folder where they are
 */
record Build(Path folder) {
  private static final String SCRIPT = "test-harness/efa-double/build";
  private static final long BOUND_SECONDS = 180;

  /** Once in this JVM; all of its tests use the same. */
  private static final class Holder {
    static final Build ONLY = run();
  }

  /**
   * Where gcc or a header is missing, a test is aborted with that reason, and in continuous
   * integration it fails.
   */
  static Build ofThisMachine() {
    requirePackages();
    return Holder.ONLY;
  }

  private static void requirePackages() {
    boolean gcc =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "gcc")));
    boolean headers = Files.exists(Path.of("/usr/include/infiniband/efadv.h"));
    String advice =
        "the EFA double needs gcc and libibverbs' headers:"
            + " apt-get install gcc libc6-dev libibverbs-dev";
    if (!(gcc && headers) && "true".equals(System.getenv("CI"))) {
      throw new AssertionError(advice);
    }
    Assumptions.assumeTrue(gcc && headers, advice);
  }

  /** The script, from a test's working directory: its module's folder, below the project's. */
  private static Path script() {
    for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
      if (Files.isExecutable(at.resolve(SCRIPT))) {
        return at.resolve(SCRIPT);
      }
    }
    throw new IllegalStateException(
        "no %s above %s".formatted(SCRIPT, Path.of("").toAbsolutePath()));
  }

  private static Build run() {
    try {
      Path out = Files.createTempFile("efa-double", ".out");
      Path err = Files.createTempFile("efa-double", ".err");
      try {
        Process process =
            new ProcessBuilder(script().toString())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        boolean ended = process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS);
        if (!ended) {
          process.destroyForcibly();
        }
        List<String> lines = Files.readAllLines(out);
        if (!ended || process.exitValue() != 0 || lines.size() != 1) {
          throw new AssertionError(
              "%s %s, and printed %s%n%s"
                  .formatted(
                      script(),
                      ended ? "ended with " + process.exitValue() : "did not end",
                      lines,
                      Files.readString(err)));
        }
        return new Build(Path.of(lines.getFirst()));
      } finally {
        Files.delete(out);
        Files.delete(err);
      }
    } catch (IOException e) {
      throw new AssertionError("the EFA double cannot be built", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while the EFA double was built", e);
    }
  }
}
