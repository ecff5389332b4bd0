package org.jofi.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jofi.cli.Jofi;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What README.md and docs/SUPPORT.md claim, against the poms, the commands and the modules. */
class ReadmeTest {
  private static final Path ROOT = LauncherTree.PROJECT;
  private static final int MOST_LINES = 150;
  private static final Pattern SECOND_PASS =
      Pattern.compile("<jofi\\.libfabric-2\\.1\\.skip>(true|false)</");
  private static final Pattern BLOCK =
      Pattern.compile("## First minute\n\n```\n(.*?)```", Pattern.DOTALL);

  private static String readme;
  private static String support;
  private static String pom;

  @BeforeAll
  static void read() throws IOException {
    readme = Files.readString(ROOT.resolve("README.md"));
    support = Files.readString(ROOT.resolve("docs/SUPPORT.md"));
    pom = Files.readString(ROOT.resolve("pom.xml"));
  }

  @Test
  void itNamesTheModulesThatAreTestedOnTheSecondLibfabric() throws IOException {
    Set<String> modules = testedTwice();
    assertFalse(modules.isEmpty(), "found no module that is tested on both");
    states(
        "The tests of these modules run on libfabric 2.1 as well: "
            + modules.stream().map(module -> "`" + module + "`").collect(Collectors.joining(", "))
            + ".");
  }

  @Test
  void itListsTheCommandsThatThereAre() {
    Matcher block = BLOCK.matcher(readme);
    assertTrue(block.find(), "README.md has no block of commands below \"First minute\"");
    Set<String> listed = new TreeSet<>(all("(?m)^\\./jofi ([a-z-]+)", block.group(1)));

    Set<String> commands = new TreeSet<>(Jofi.commands());
    // The launcher's own.
    commands.add("test");
    assertEquals(commands, listed, "the commands of README.md's \"First minute\"");
  }

  @Test
  void itNamesTheVersionsThatTheBuildDemands() {
    states("\n| JDK | " + first("<maven\\.compiler\\.release>(\\d+)</", pom) + " |");
    states(
        "\n| Maven | "
            + first("<requireMavenVersion>\\s*<version>\\[([\\d.]+),\\)</version>", pom)
            + " and newer,");
  }

  /** Of which release the dependency is that it shows. */
  @Test
  void itShowsTheVersionThatThisIs() {
    String version =
        first("<artifactId>jofi-parent</artifactId>\\s*<version>([^<]+)</version>", pom);
    assertTrue(readme.contains("  <version>" + version + "</version>"), version);
    assertEquals(version.endsWith("-SNAPSHOT"), readme.contains("This is a snapshot"));
    assertTrue(readme.lines().count() <= MOST_LINES, "what is longer goes to docs");
  }

  @Test
  void itNamesModulesThatExist() throws IOException {
    Set<String> named = new TreeSet<>(all("`(org\\.jofi(?:\\.[a-z]+)+)`", section("As a library")));
    assertTrue(named.size() >= 5, () -> "found only " + named);
    Set<String> modules = new TreeSet<>();
    for (Path file : files("module-info.java")) {
      modules.addAll(all("(?m)^(?:open )?module ([\\w.]+)", Files.readString(file)));
    }
    named.removeAll(modules);
    assertEquals(Set.of(), named, "named in README.md and no module");
  }

  /** The pom's own word, or else the parent's, for every module that has tests. */
  private static Set<String> testedTwice() throws IOException {
    String inherited = first(SECOND_PASS.pattern(), pom);
    Set<String> modules = new TreeSet<>();
    for (Path file : files("pom.xml")) {
      if (Files.isDirectory(file.resolveSibling("src/test"))) {
        Matcher own = SECOND_PASS.matcher(Files.readString(file));
        if ((own.find() ? own.group(1) : inherited).equals("false")) {
          modules.add(ROOT.relativize(file.getParent()).toString());
        }
      }
    }
    return modules;
  }

  private static void states(String line) {
    assertTrue(support.contains(line), () -> "docs/SUPPORT.md has to say:\n" + line.strip());
  }

  private static String section(String title) {
    return first("(?s)\n## " + title + "\n(.*?)(?=\n## |\\z)", readme);
  }

  private static String first(String pattern, String text) {
    Matcher found = Pattern.compile(pattern).matcher(text);
    assertTrue(found.find(), () -> "nothing matches " + pattern);
    return found.group(1);
  }

  private static Set<String> all(String pattern, String text) {
    return Pattern.compile(pattern)
        .matcher(text)
        .results()
        .map((MatchResult found) -> found.group(1))
        .collect(Collectors.toSet());
  }

  private static Set<Path> files(String name) throws IOException {
    try (Stream<Path> paths = Files.walk(ROOT)) {
      return paths
          .filter(path -> path.endsWith(name))
          .filter(path -> !ROOT.relativize(path).toString().contains("target/"))
          .collect(Collectors.toSet());
    }
  }
}
