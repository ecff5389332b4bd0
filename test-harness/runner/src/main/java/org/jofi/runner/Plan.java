package org.jofi.runner;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** What a run consists of: the passes of all modules, as the poms set them. */
final class Plan {
  private static final String SECOND = "libfabric-2.1";

  private final RunOptions options;
  private final Pom root;

  private Plan(RunOptions options, Pom root) {
    this.options = options;
    this.root = root;
  }

  /**
   * Reads the poms and the folders of test sources.
   *
   * @throws IOException if something is not there, such as what the build makes
   */
  static List<Pass> of(RunOptions options) throws IOException {
    Plan plan = new Plan(options, Pom.read(options.root().resolve("pom.xml")));
    List<Pass> passes = new ArrayList<>();
    for (Path folder : modules(options.root())) {
      plan.add(folder, passes);
    }
    return passes;
  }

  /** The folders of all modules, the project's own first. */
  static List<Path> modules(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root, 3)) {
      return files
          .filter(file -> file.endsWith("pom.xml"))
          .sorted()
          .map(pom -> pom.resolveSibling(""))
          .toList();
    }
  }

  private void add(Path folder, List<Pass> passes) throws IOException {
    List<TestClass> classes = chosen(TestClass.below(folder));
    if (classes.isEmpty()) {
      return;
    }
    Pom module = Pom.read(folder.resolve("pom.xml"));
    Settings settings = Settings.of(root, module, options.full(), options.properties());
    passes.add(pass(folder, module, settings, classes, Optional.empty()));
    if (options.secondLibrary().isPresent() && !settings.is("jofi.test.skip-on-2.1")) {
      passes.add(pass(folder, module, settings, classes, options.secondLibrary()));
    }
  }

  private List<TestClass> chosen(List<TestClass> classes) {
    if (options.isWhole()) {
      return classes;
    }
    return options.targets().stream()
        .flatMap(
            target ->
                classes.stream()
                    .filter(one -> one.name().equals(target.name()))
                    .map(one -> new TestClass(one.name(), target.method(), one.alone())))
        .distinct()
        .toList();
  }

  private Pass pass(
      Path folder,
      Pom module,
      Settings settings,
      List<TestClass> classes,
      Optional<Path> secondLibrary)
      throws IOException {
    boolean second = secondLibrary.isPresent();
    Settings given =
        secondLibrary.map(library -> settings.with(properties(library))).orElse(settings);
    List<String> jvmOptions = new ArrayList<>(List.of("-ea", "-XX:+ErrorFileToStdout"));
    jvmOptions.addAll(words(settings.fill(root.surefire("argLine"))));
    root.surefireTexts("systemPropertyVariables")
        .forEach((name, value) -> jvmOptions.add("-D" + name + "=" + given.fill(value)));
    return new Pass(
        options.root().relativize(folder).toString(),
        second ? SECOND : "",
        folder,
        secondLibrary
            .map(library -> library.resolve("jdk/bin/java"))
            .orElse(Path.of(System.getProperty("java.home"), "bin", "java")),
        List.copyOf(jvmOptions),
        jars(folder, module, settings),
        folder.resolve("target/test-classes"),
        // The tests' JVMs are started by a program that is given already.
        given.get("jofi.test.java").isEmpty()
            ? words(settings.get("jofi.test.training"))
            : List.of(),
        settings.lines(root.surefire("configurationParameters")).entrySet().stream()
            .map(entry -> entry.getKey() + "=" + entry.getValue())
            .toList(),
        second ? tags(settings.get("jofi.test.tags-on-2.1")) : List.of(),
        tags(settings.get("jofi.test.excluded")),
        classes);
  }

  private static Map<String, String> properties(Path library) {
    return Map.of(
        "jofi.libfabric", library.resolve("lib/libfabric.so.1").toString(),
        "jofi.libfabric.include", library.resolve("include").toString(),
        "jofi.test.java", library.resolve("jdk/bin/java").toString(),
        "jofi.test.loader", library.resolve("ld.so").toString());
  }

  /** The module's jar, where it has one, and those it needs. */
  private List<Path> jars(Path folder, Pom module, Settings settings) throws IOException {
    String own = module.artifact() + "-" + root.version() + ".jar";
    String needed = Files.readString(folder.resolve("target/test-class-path.txt")).strip();
    return Stream.concat(
            Stream.of(folder.resolve(settings.get("jofi.jars")).resolve(own)),
            Stream.of(needed.split(File.pathSeparator, -1)).map(Path::of))
        .filter(Files::isRegularFile)
        .toList();
  }

  private static List<String> tags(String text) {
    return words(text.replace(',', ' '));
  }

  private static List<String> words(String text) {
    return Stream.of(text.split("\\s+", -1)).filter(word -> !word.isEmpty()).toList();
  }
}
