package org.jofi.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What {@code ./jofi publish} lays out, of a copy of this project's sources: whoever runs the tests
 * holds the lock on the project itself, and what both built is compared.
 */
final class PublishedRepository {
  private static final long BOUND_MINUTES = 20;
  private static final Path JAVA_HOME = Path.of(System.getProperty("java.home"));

  private final Path base;
  private final Path folder;
  private final String said;

  private PublishedRepository(Path base, Path folder, String said) {
    this.base = base;
    this.folder = folder;
    this.said = said;
  }

  /** Publishes into a folder below the given one. */
  static PublishedRepository of(Path base) throws Exception {
    Path copy = base.resolve("a copy");
    copySources(copy);
    Path folder = base.resolve("a repository");
    String said =
        run(
            copy,
            copy.resolve("jofi").toString(),
            "publish",
            "--local",
            folder.toString(),
            // The project itself is checked whenever it is built.
            "-Dspotless.check.skip=true",
            // Half a minute; one module shows that and how pages are made.
            "-Djofi.javadoc.of-others.skip=true",
            "-Derror-prone.options=-XepDisableAllChecks");
    return new PublishedRepository(base, folder, said);
  }

  private static void copySources(Path copy) throws IOException {
    Path project = LauncherTree.PROJECT;
    Files.walkFileTree(
        project,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path from, BasicFileAttributes attributes)
              throws IOException {
            String name = from.getFileName().toString();
            if (!from.equals(project) && (name.equals("target") || name.startsWith("."))) {
              return FileVisitResult.SKIP_SUBTREE;
            }
            Files.createDirectories(copy.resolve(project.relativize(from)));
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path from, BasicFileAttributes attributes)
              throws IOException {
            Files.copy(
                from, copy.resolve(project.relativize(from)), StandardCopyOption.COPY_ATTRIBUTES);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  Path folder() {
    return folder;
  }

  /** What the command printed. */
  String said() {
    return said;
  }

  /** The version, as the project's pom says it. */
  static String version() throws IOException {
    Matcher version =
        Pattern.compile("<version>([^<]+)</version>")
            .matcher(Files.readString(LauncherTree.PROJECT.resolve("pom.xml")));
    assertTrue(version.find());
    return version.group(1);
  }

  /** The names of all artifacts. */
  List<String> artifacts() throws IOException {
    try (Stream<Path> folders = Files.list(folder.resolve("org/jofi"))) {
      return folders
          .filter(Files::isDirectory)
          .map(one -> one.getFileName().toString())
          .sorted()
          .toList();
    }
  }

  /** The one file of an artifact whose name ends so, behind the version. */
  Path file(String artifact, String end) throws IOException {
    Pattern name =
        Pattern.compile(Pattern.quote(artifact) + "-[0-9.]+(-SNAPSHOT|-[0-9.]+-[0-9]+)?" + end);
    try (Stream<Path> files =
        Files.list(folder.resolve("org/jofi").resolve(artifact).resolve(version()))) {
      List<Path> found =
          files.filter(file -> name.matcher(file.getFileName().toString()).matches()).toList();
      assertEquals(1, found.size(), () -> artifact + " " + end + ": " + found + "\n" + said);
      return found.getFirst();
    }
  }

  /**
   * A repository of Maven's own for those who take jofi from here: all that this user's holds, but
   * for jofi, which shall come from here and stay here.
   */
  Path localRepository() throws IOException {
    Path own = Path.of(System.getProperty("user.home"), ".m2", "repository");
    Path local = Files.createDirectories(base.resolve("m2"));
    if (Files.isDirectory(own)) {
      link(own, local, "org");
      link(own.resolve("org"), Files.createDirectories(local.resolve("org")), "jofi");
    }
    return local;
  }

  private static void link(Path from, Path to, String exceptFor) throws IOException {
    try (Stream<Path> all = Files.list(from)) {
      for (Path one : all.filter(Files::isDirectory).toList()) {
        String name = one.getFileName().toString();
        if (!name.equals(exceptFor) && !Files.exists(to.resolve(name))) {
          Files.createSymbolicLink(to.resolve(name), one);
        }
      }
    }
  }

  /** Runs Maven in a folder; fails with its output. */
  static void maven(Path in, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("mvn", "-B", "-ntp"));
    command.addAll(List.of(arguments));
    run(in, command.toArray(String[]::new));
  }

  /** Runs a program in a folder to its end, and fails unless it ends well. Returns what it said. */
  static String run(Path in, String... command) throws Exception {
    Path out = Files.createTempFile(in, "said", ".txt");
    Process process =
        builder(in, command).redirectErrorStream(true).redirectOutput(out.toFile()).start();
    try {
      boolean ended = process.waitFor(BOUND_MINUTES, TimeUnit.MINUTES);
      String text = Files.readString(out);
      assertTrue(ended, () -> "did not end: " + String.join(" ", command) + "\n" + text);
      assertEquals(0, process.exitValue(), () -> String.join(" ", command) + "\n" + text);
      return text;
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  /** A program on this test's JDK, which installs nothing. */
  static ProcessBuilder builder(Path in, String... command) {
    ProcessBuilder builder = new ProcessBuilder(command).directory(in.toFile());
    Map<String, String> environment = builder.environment();
    environment.remove("JOFI_NO_BUILD");
    environment.put("JOFI_NO_INSTALL", "1");
    environment.put("JAVA_HOME", JAVA_HOME.toString());
    environment.put(
        "MAVEN_OPTS",
        "-XX:TieredStopAtLevel=1 --sun-misc-unsafe-memory-access=allow"
            + " --enable-native-access=ALL-UNNAMED");
    return builder;
  }
}
