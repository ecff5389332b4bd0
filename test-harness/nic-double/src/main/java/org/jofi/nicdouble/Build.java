package org.jofi.nicdouble;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * The double's libraries and programs, made of its sources when they are newer.
 *
 * @param folder where they are
 */
record Build(Path folder) {
  private static final long BOUND_SECONDS = 180;

  /** Once in this JVM for each double; all of its tests use the same. */
  private static final Map<String, Build> DONE = new HashMap<>();

  /**
   * Where gcc or a header is missing, a test is aborted with that reason, and in continuous
   * integration it fails.
   *
   * @param name the double's, which is its folder's below {@code test-harness} as well
   */
  static Build of(String name, Needs needs) {
    requirePackages(needs);
    synchronized (DONE) {
      return DONE.computeIfAbsent(name, Build::run);
    }
  }

  private static void requirePackages(Needs needs) {
    boolean gcc =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "gcc")));
    boolean headers =
        needs.headers().stream()
            .allMatch(header -> Files.exists(Path.of("/usr/include").resolve(header)));
    if (!(gcc && headers) && "true".equals(System.getenv("CI"))) {
      throw new AssertionError(needs.advice());
    }
    Assumptions.assumeTrue(gcc && headers, needs.advice());
  }

  /** The script, from a test's working directory: its module's folder, below the project's. */
  private static Path script(String name) {
    Path wanted = Path.of("test-harness", name, "build");
    for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
      if (Files.isExecutable(at.resolve(wanted))) {
        return at.resolve(wanted);
      }
    }
    throw new IllegalStateException(
        "no %s above %s".formatted(wanted, Path.of("").toAbsolutePath()));
  }

  private static Build run(String name) {
    Path script = script(name);
    try {
      Path out = Files.createTempFile(name, ".out");
      Path err = Files.createTempFile(name, ".err");
      try {
        Process process =
            new ProcessBuilder(script.toString())
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
                      script,
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
      throw new AssertionError(name + " cannot be built", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while %s was built".formatted(name), e);
    }
  }
}
