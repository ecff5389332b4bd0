package org.jofi.runner;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The start caches of modules whose tests start JVMs, made when the first of them runs. */
final class StartCaches {
  /** What the tests' JVMs are started with, as far as a cache depends on it. */
  private static final List<String> OPTIONS =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED");

  private final Path folder;
  private final Report report;
  private final Map<String, Optional<Path>> programs = new HashMap<>();

  StartCaches(Path folder, Report report) {
    this.folder = folder;
    this.report = report;
  }

  /** A pass whose tests start JVMs from a cache, if it has any; as it was, if it cannot be made. */
  synchronized Pass provide(Pass pass) throws InterruptedException {
    if (pass.training().isEmpty()) {
      return pass;
    }
    Optional<Path> program = programs.get(pass.module());
    if (program == null) {
      program = make(pass);
      programs.put(pass.module(), program);
    }
    if (program.isEmpty()) {
      return pass;
    }
    List<String> options = new ArrayList<>(pass.jvmOptions());
    options.add("-Djofi.test.java=" + program.get());
    return pass.with(options);
  }

  private Optional<Path> make(Pass pass) throws InterruptedException {
    StartCache cache =
        new StartCache(folder.resolve(pass.module().replace('/', '-')), pass.java(), pass.jars());
    try {
      cache.provide(OPTIONS, pass.training());
      return Optional.of(cache.program());
    } catch (IOException e) {
      report.say(
          "no start cache for " + pass.module() + ", whose tests take longer: " + e.getMessage());
      return Optional.empty();
    }
  }
}
