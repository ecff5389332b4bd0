package org.jofi.runner;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A cache of loaded and linked classes (JEP 483), from which the JVMs that a module's tests start
 * begin in less time. It is made of what one of them loads in a training run, and made again when a
 * jar has changed.
 *
 * <p>A JVM that finds the cache unfit starts without it and says nothing, so all that can be lost
 * is time.
 */
final class StartCache {
  private static final long BOUND_SECONDS = 120;

  private final Path folder;
  private final Path java;
  private final String classPath;

  /**
   * @param folder where it is kept
   * @param java the JVM's program
   * @param jars the class path that those JVMs begin with; no folders, of which a cache holds none
   */
  StartCache(Path folder, Path java, List<Path> jars) {
    this.folder = folder;
    this.java = java;
    classPath = String.join(File.pathSeparator, jars.stream().map(Path::toString).toList());
  }

  /** The program that starts JVMs from the cache, as {@code java} does without. */
  Path program() {
    return folder.resolve("java");
  }

  /**
   * Makes the cache unless it is there and fits.
   *
   * @param options the options that those JVMs have
   * @param training a main class and its arguments, which starts such JVMs itself, by the program
   *     that the system property {@code jofi.java} names
   * @throws IOException if it cannot be made, with the reason
   */
  void provide(List<String> options, List<String> training)
      throws IOException, InterruptedException {
    Files.createDirectories(folder);
    String key = key(options, training);
    Path made = folder.resolve("key");
    if (Files.exists(made) && Files.readString(made).equals(key)) {
      return;
    }
    Files.deleteIfExists(made);
    Path record = folder.resolve("configuration");
    Path cache = folder.resolve("cache");
    Path turn = folder.resolve("turn");
    Files.deleteIfExists(record);
    Files.deleteIfExists(turn);
    // The first that is started records what it loads.
    Path trainee =
        script(
            "trainee",
            "if mkdir '%s' 2>/dev/null; then exec '%s' -XX:AOTMode=record -XX:AOTConfiguration='%s' \"$@\"; fi"
                .formatted(turn, java, record),
            "exec '%s' \"$@\"".formatted(java));
    List<String> train = new ArrayList<>(List.of(java.toString()));
    train.addAll(options);
    train.addAll(List.of("-Djofi.java=" + trainee, "-cp", classPath));
    train.addAll(training);
    run("training", train);
    List<String> create = new ArrayList<>(List.of(java.toString(), "-XX:AOTMode=create"));
    create.addAll(List.of("-XX:AOTConfiguration=" + record, "-XX:AOTCache=" + cache));
    create.addAll(options);
    create.addAll(List.of("-cp", classPath));
    run("making", create);
    script(
        "java",
        "exec '%s' -XX:AOTCache='%s' -Xlog:aot=off -XX:+UseTransparentHugePages \"$@\""
            .formatted(java, cache));
    Files.writeString(made, key);
  }

  private String key(List<String> options, List<String> training) throws IOException {
    List<String> parts = new ArrayList<>();
    parts.add(System.getProperty("java.vm.version") + " " + java);
    parts.addAll(options);
    parts.addAll(training);
    for (String jar : classPath.split(File.pathSeparator, -1)) {
      Path file = Path.of(jar);
      parts.add(jar + " " + Files.size(file) + " " + Files.getLastModifiedTime(file).toMillis());
    }
    return String.join("\n", parts);
  }

  private Path script(String name, String... lines) throws IOException {
    Path file = folder.resolve(name);
    Files.write(file, Stream.concat(Stream.of("#!/bin/sh"), Stream.of(lines)).toList());
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private void run(String what, List<String> command) throws IOException, InterruptedException {
    Path log = folder.resolve(what + ".log");
    Process process =
        new ProcessBuilder(command)
            .redirectInput(new File("/dev/null"))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      throw new IOException(what + " did not end in time: " + log);
    }
    if (process.exitValue() != 0) {
      throw new IOException(
          "%s failed: %s, %s"
              .formatted(
                  what,
                  Files.readString(log, StandardCharsets.UTF_8).lines().reduce("", (_, b) -> b),
                  log));
    }
  }
}
