package org.jofi.runner;

import java.nio.file.Path;
import java.util.List;

/** Passes without anything in them. */
final class Passes {
  private Passes() {}

  static Pass of(String module, String library) {
    return of(module, library, Path.of("java"), Path.of("."));
  }

  static Pass on(Path java, Path folder) {
    return of("a", "", java, folder);
  }

  private static Pass of(String module, String library, Path java, Path folder) {
    return new Pass(
        module,
        library,
        folder,
        java,
        List.of(),
        List.of(),
        folder.resolve("absent"),
        List.of(),
        List.of("junit.jupiter.execution.parallel.enabled=false"),
        List.of(),
        List.of(),
        List.of());
  }
}
