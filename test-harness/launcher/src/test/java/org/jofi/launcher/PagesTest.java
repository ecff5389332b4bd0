package org.jofi.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the pages point at is there: files, headings, tests, classes. */
class PagesTest {
  private static final Path ROOT = LauncherTree.PROJECT;
  private static final Path DOCS = ROOT.resolve("docs");

  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern PATH =
      Pattern.compile(
          "`((?:api|docs|mr-cache|providers|publishing|rdma-protocol|test-harness)/[\\w./-]+)`");
  private static final Pattern TEST =
      Pattern.compile("`(?:([A-Z]\\w*(?:Test|Properties))(?:\\.(\\w+))?|([a-z]\\w+))`");
  private static final Pattern CLASS = Pattern.compile("`([A-Z][a-z]\\w+)(?:\\.\\w+)?`");

  private static final Map<Path, String> pages = new TreeMap<>();

  /** Java files by their name without the ending. */
  private static final Map<String, Path> sources = new TreeMap<>();

  @BeforeAll
  static void read() throws IOException {
    for (Path page : find(ROOT, 1, "\\w+\\.md")) {
      pages.put(page, Files.readString(page));
    }
    for (Path page : find(DOCS, 1, "[\\w-]+\\.md")) {
      pages.put(page, Files.readString(page));
    }
    for (Path file : find(ROOT, Integer.MAX_VALUE, "\\w+\\.java")) {
      sources.put(file.getFileName().toString().replace(".java", ""), file);
    }
    assertTrue(pages.size() > 10 && sources.size() > 100, "found no pages, or no sources");
  }

  @Test
  void linksLeadSomewhere() {
    List<String> broken = new ArrayList<>();
    int links = 0;
    for (Map.Entry<Path, String> page : pages.entrySet()) {
      Matcher link = LINK.matcher(page.getValue());
      while (link.find()) {
        links++;
        if (!link.group(1).contains("://") && !leads(page.getKey(), link.group(1))) {
          broken.add(page.getKey().getFileName() + ": " + link.group(1));
        }
      }
    }
    assertEquals(List.of(), broken);
    assertTrue(links > 30, "found only " + links + " links");
  }

  @Test
  void pathsExist() {
    List<String> missing = new ArrayList<>();
    for (Map.Entry<Path, String> page : pages.entrySet()) {
      for (String path : all(PATH, page.getValue())) {
        if (!path.contains("/target/") && !Files.exists(ROOT.resolve(path))) {
          missing.add(page.getKey().getFileName() + ": " + path);
        }
      }
    }
    assertEquals(List.of(), missing);
  }

  /** A file of raw figures that no page names would be forgotten when the figures are. */
  @Test
  void rawFiguresBelongToAPage() throws IOException {
    String text = String.join("\n", pages.values());
    assertEquals(
        List.of(),
        find(DOCS, Integer.MAX_VALUE, ".*\\.(txt|json|svg)").stream()
            .filter(file -> !text.contains(file.getFileName().toString()))
            .toList());
  }

  @Test
  void testsOfTheProtocolsInvariantsExist() throws IOException {
    String text = pages.get(DOCS.resolve("PROTOCOL.md"));
    List<String> missing = new ArrayList<>();
    int tests = 0;
    for (String row : text.substring(text.indexOf("\n## Invariants")).lines().toList()) {
      String type = "";
      Matcher test = TEST.matcher(row);
      while (test.find()) {
        // A method alone is of the class before it.
        String method = test.group(1) == null ? test.group(3) : test.group(2);
        type = test.group(1) == null ? type : test.group(1);
        tests++;
        Path source = sources.get(type);
        if (source == null
            || (method != null && !Files.readString(source).contains(" " + method + "("))) {
          missing.add(type + "." + method);
        }
      }
    }
    assertEquals(List.of(), missing);
    assertTrue(tests > 50, "found only " + tests + " tests");
  }

  @Test
  void classesThatReadersAreSentToExist() {
    // Of the JDK.
    Set<String> others =
        Set.of("ServiceLoader", "System", "ByteBuffer", "MemorySegment", "SecureRandom");
    List<String> missing = new ArrayList<>();
    int classes = 0;
    for (Path page :
        List.of(
            ROOT.resolve("CONTRIBUTING.md"),
            DOCS.resolve("ARCHITECTURE.md"),
            DOCS.resolve("PROTOCOL.md"),
            DOCS.resolve("REGISTRATION.md"),
            DOCS.resolve("GPU.md"),
            DOCS.resolve("NCCL.md"))) {
      for (String type : all(CLASS, pages.get(page))) {
        classes++;
        if (!sources.containsKey(type) && !others.contains(type)) {
          missing.add(page.getFileName() + ": " + type);
        }
      }
    }
    assertEquals(List.of(), missing);
    assertTrue(classes > 150, "found only " + classes);
  }

  private static boolean leads(Path page, String target) {
    int hash = target.indexOf('#');
    String name = hash < 0 ? target : target.substring(0, hash);
    Path file = name.isEmpty() ? page : page.resolveSibling(name).normalize();
    if (!Files.exists(file)) {
      return false;
    }
    String text = pages.get(file);
    return hash < 0 || text == null || headings(text).contains(target.substring(hash + 1));
  }

  /** As code forges name the headings of a page. */
  private static Set<String> headings(String text) {
    return text.lines()
        .filter(line -> line.matches("#+ .*"))
        .map(line -> line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT))
        .map(line -> line.replaceAll("[^\\w -]", "").replace(' ', '-'))
        .collect(Collectors.toSet());
  }

  private static Set<String> all(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .map(found -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static List<Path> find(Path folder, int depth, String name) throws IOException {
    try (Stream<Path> paths = Files.walk(folder, depth)) {
      return paths
          .filter(path -> path.getFileName().toString().matches(name))
          .filter(path -> !ROOT.relativize(path).toString().contains("target/"))
          .sorted()
          .toList();
    }
  }
}
