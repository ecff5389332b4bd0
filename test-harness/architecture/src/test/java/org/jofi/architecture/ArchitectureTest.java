package org.jofi.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ArchitectureTest {
  private static final int MOST_FILES = 25;
  private static final int MOST_LINES = 400;

  private static final JavaClasses PROJECT =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages(Layer.ROOT);

  private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

  /** Opened once: what it knows of the JDK is the same for each program. */
  private static final StandardJavaFileManager FILES =
      COMPILER.getStandardFileManager(null, null, null);

  /** Surefire runs tests in the module's folder. */
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent().getParent();

  static Stream<Law> laws() {
    return Law.all();
  }

  @ParameterizedTest
  @MethodSource("laws")
  void theProjectKeeps(Law law) {
    law.rule().check(PROJECT);
  }

  /** A rule that nothing can break holds nothing up. */
  @ParameterizedTest
  @MethodSource("laws")
  void itsViolationsAreSeen(Law law, @TempDir Path folder) throws IOException {
    assertFalse(law.violations().isEmpty(), "no violation to try");
    for (List<String> program : law.violations()) {
      JavaClasses classes = compile(program, Files.createTempDirectory(folder, "program"));
      assertTrue(law.rule().evaluate(classes).hasViolation(), () -> "not rejected: " + program);
    }
  }

  /** Who requires a module of the project is to need no other project's for it. */
  @Test
  void noForeignModuleComesWithOurs() {
    assertTrue(Exports.packages().contains("org.jofi.transport"), Exports.packages()::toString);
    assertTrue(Exports.packages().contains("org.jofi.simulated"), Exports.packages()::toString);
    assertEquals(Set.of(), Exports.foreignModules());
  }

  /** What is not on this module's class path would not be examined, and nobody would notice. */
  @Test
  void everyPackageOfTheProductIsExamined() throws IOException {
    Set<String> examined =
        PROJECT.stream()
            .map(JavaClass::getPackageName)
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> missing = sourcePackages();
    assertTrue(missing.size() >= 3, () -> "found no sources below " + ROOT + ": " + missing);
    missing.removeAll(examined);
    assertEquals(
        Set.of(),
        missing,
        "packages whose module is no dependency in test-harness/architecture/pom.xml");
  }

  /** A reader finds a class of the core by its room, and reads it in one go. */
  @Test
  void roomsAndClassesOfTheCoreStaySmall() throws IOException {
    Map<Path, Integer> rooms = new TreeMap<>();
    List<String> tooLong = new ArrayList<>();
    Path core = ROOT.resolve("rdma-protocol/src/main/java");
    try (Stream<Path> files = Files.walk(core)) {
      for (Path file : files.filter(file -> file.toString().endsWith(".java")).toList()) {
        rooms.merge(core.relativize(file.getParent()), 1, Integer::sum);
        int lines = Files.readAllLines(file).size();
        if (lines > MOST_LINES) {
          tooLong.add("%s: %d".formatted(core.relativize(file), lines));
        }
      }
    }
    assertTrue(rooms.size() >= 10, rooms::toString);
    rooms.values().removeIf(count -> count <= MOST_FILES);
    assertEquals(Map.of(), rooms, "more than %d files".formatted(MOST_FILES));
    assertEquals(List.of(), tooLong, "more than %d lines".formatted(MOST_LINES));
  }

  private static Set<String> sourcePackages() throws IOException {
    Set<String> packages = new TreeSet<>();
    for (String part :
        List.of(
            "api",
            "mr-cache",
            "rdma-protocol",
            "providers",
            "test-harness/abi-double",
            "test-harness/doctor",
            "test-harness/conformance",
            "test-harness/cli")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(part))) {
        files
            .map(file -> ROOT.relativize(file.getParent()).toString() + "/" + file.getFileName())
            .filter(file -> file.matches(".*/src/main/java/.*/[^/-]+\\.java"))
            .map(file -> file.replaceAll(".*/src/main/java/(.*)/[^/]+", "$1").replace('/', '.'))
            .forEach(packages::add);
      }
    }
    return packages;
  }

  private static JavaClasses compile(List<String> sources, Path output) {
    List<String> options = List.of("-proc:none", "-d", output.toString(), "-cp", output.toString());
    List<JavaFileObject> files = sources.stream().<JavaFileObject>map(Source::new).toList();
    assertTrue(COMPILER.getTask(null, FILES, null, options, null, files).call(), sources::toString);
    // What is not the program's has a name, and that is all that a law asks of it.
    return ArchConfiguration.withThreadLocalScope(
        configuration -> {
          configuration.setResolveMissingDependenciesFromClassPath(false);
          return new ClassFileImporter().importPath(output);
        });
  }

  /** A source file in memory; its class is the first that the text declares. */
  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String text) {
      super(
          URI.create(
              "memory:///" + text.replaceAll(".*?\\b(?:class|interface) (\\w+).*", "$1") + ".java"),
          Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }
}
