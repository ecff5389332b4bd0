package org.jofi.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A class with tests.
 *
 * @param name its full name
 * @param method the only one of its methods that runs, or all
 * @param alone whether it has tests that run with nothing beside them
 */
record TestClass(String name, Optional<String> method, boolean alone) {
  /** The tag of a test whose point is time. */
  static final String ALONE = "alone";

  /** Classes below a module's folder, in the order of their names. */
  static List<TestClass> below(Path module) throws IOException {
    Path sources = module.resolve("src/test/java");
    List<TestClass> classes = new ArrayList<>();
    if (!Files.isDirectory(sources)) {
      return classes;
    }
    try (Stream<Path> files = Files.walk(sources)) {
      for (Path file : (Iterable<Path>) files.sorted()::iterator) {
        String name = sources.relativize(file).toString();
        if (name.endsWith("Test.java") || name.endsWith("Properties.java")) {
          classes.add(
              new TestClass(
                  name.substring(0, name.length() - ".java".length()).replace('/', '.'),
                  Optional.empty(),
                  Files.readString(file).contains("@Tag(\"" + ALONE + "\")")));
        }
      }
    }
    return classes;
  }

  String simpleName() {
    return name.substring(name.lastIndexOf('.') + 1);
  }
}
