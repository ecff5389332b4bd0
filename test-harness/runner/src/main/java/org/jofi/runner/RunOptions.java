package org.jofi.runner;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The runner's command line, which the launcher writes.
 *
 * @param root the project's folder
 * @param secondLibrary the folder of libfabric 2.1, on which some modules are tested as well
 * @param full whether the long tests run, too
 * @param rows how many of the slowest classes and tests are named; 0: none
 * @param started when the command began, in ms since 1970: building counts, too
 * @param built how many s of it building took
 * @param properties what {@code -D} gives, before what the poms say
 * @param targets classes, each with a method or without; none: all
 */
record RunOptions(
    Path root,
    Optional<Path> secondLibrary,
    boolean full,
    int rows,
    long started,
    long built,
    Map<String, String> properties,
    List<Target> targets) {

  /** A class by its full name, and one of its methods, or all. */
  record Target(String name, Optional<String> method) {
    static Target of(String text) {
      int hash = text.indexOf('#');
      return hash < 0
          ? new Target(text, Optional.empty())
          : new Target(text.substring(0, hash), Optional.of(text.substring(hash + 1)));
    }
  }

  /** Takes it apart. What begins with - and is unknown here is for Maven alone. */
  static RunOptions of(String[] words) {
    Path root = Path.of("");
    Optional<Path> second = Optional.empty();
    boolean full = false;
    int rows = 0;
    long started = System.currentTimeMillis();
    long built = 0;
    Map<String, String> properties = new HashMap<>();
    List<Target> targets = new ArrayList<>();
    for (String word : words) {
      String value = word.substring(word.indexOf('=') + 1);
      if (word.startsWith("--root=")) {
        root = Path.of(value);
      } else if (word.startsWith("--libfabric-2.1=")) {
        second = Optional.of(Path.of(value));
      } else if (word.startsWith("--times=")) {
        rows = Integer.parseInt(value);
      } else if (word.startsWith("--started=")) {
        started = Long.parseLong(value);
      } else if (word.startsWith("--built=")) {
        built = Long.parseLong(value);
      } else if (word.equals("--all")) {
        full = true;
      } else if (word.startsWith("-D")) {
        String name = word.substring(2).split("=", 2)[0];
        properties.put(name, word.contains("=") ? value : "true");
      } else if (!word.startsWith("-")) {
        targets.add(Target.of(word));
      }
    }
    return new RunOptions(
        root, second, full, rows, started, built, Map.copyOf(properties), List.copyOf(targets));
  }

  /** Whether every module's tests run. */
  boolean isWhole() {
    return targets.isEmpty();
  }
}
