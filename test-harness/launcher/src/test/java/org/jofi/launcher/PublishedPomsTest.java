package org.jofi.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/**
 * What the poms say of what is published: the BOM and the modules agree, and nothing is missing.
 */
class PublishedPomsTest {
  private static final String GROUP = "org.jofi";
  private static final String BOM = "jofi-bom";
  private static final String PARENT = "jofi-parent";

  /** To unpack, and nothing that a project depends on. */
  private static final Set<String> ARCHIVES = Set.of("jofi-command-line", "jofi-nccl-plugin");

  /** Poms by artifact. */
  private static final Map<String, Element> poms = new TreeMap<>();

  @BeforeAll
  static void read() throws Exception {
    for (Path file : files()) {
      Element pom =
          DocumentBuilderFactory.newDefaultInstance()
              .newDocumentBuilder()
              .parse(file.toFile())
              .getDocumentElement();
      poms.put(text(pom, "artifactId"), pom);
    }
    assertTrue(poms.keySet().containsAll(Set.of(PARENT, BOM, "jofi")), poms.keySet()::toString);
  }

  @Test
  void theBomNamesWhatIsPublishedAndNothingElse() {
    Element managed = child(poms.get(BOM), "dependencyManagement").orElseThrow();
    Set<String> named = new TreeSet<>();
    for (Element dependency : children(child(managed, "dependencies").orElseThrow())) {
      named.add(text(dependency, "artifactId"));
      assertEquals("${project.version}", text(dependency, "version"));
    }
    assertTrue(named.size() > 5, named::toString);
    Set<String> expected = published();
    assertTrue(expected.removeAll(ARCHIVES) && expected.remove(BOM), expected::toString);
    assertEquals(expected, named);
  }

  @Test
  void allBearOneVersion() {
    String version = text(poms.get(PARENT), "version");
    poms.forEach(
        (artifact, pom) -> {
          Element says =
              child(pom, "parent").filter(parent -> child(pom, "version").isEmpty()).orElse(pom);
          assertEquals(version, text(says, "version"), artifact);
        });
  }

  @Test
  void eachSaysWhatItIs() {
    for (String artifact : published()) {
      Element pom = poms.get(artifact);
      // As the launcher shows it while it builds, in one word.
      assertEquals(artifact, text(pom, "name"));
      assertFalse(text(pom, "description").isEmpty(), artifact);
    }
  }

  /** A test of what is published has it made of the transport alone. */
  @Test
  void javadocIsMadeOfAllThatIsPublished() {
    Element all = child(poms.get(PARENT), "properties").orElseThrow();
    assertEquals("${maven.deploy.skip}", text(all, "jofi.javadoc.of-others.skip"));
    assertEquals("${jofi.javadoc.of-others.skip}", text(all, "jofi.javadoc.skip"));
    poms.forEach(
        (artifact, pom) -> {
          if (!artifact.equals(PARENT)) {
            child(pom, "properties")
                .flatMap(own -> child(own, "jofi.javadoc.skip"))
                .ifPresent(
                    skip -> assertEquals("${maven.deploy.skip}", skip.getTextContent(), artifact));
          }
        });
  }

  /** It has no parent, whose dependencies whoever imports it would import as well. */
  @Test
  void theBomSaysOfTheProjectWhatTheParentSays() {
    Element bom = poms.get(BOM);
    assertTrue(child(bom, "parent").isEmpty());
    for (String about : List.of("url", "licenses", "developers", "scm", "issueManagement")) {
      assertEquals(texts(poms.get(PARENT), about), texts(bom, about), about);
    }
  }

  @Test
  void whatIsPublishedNeedsNothingThatIsNot() {
    List<String> missing = new ArrayList<>();
    for (String artifact : published()) {
      child(poms.get(artifact), "dependencies").stream()
          .flatMap(dependencies -> children(dependencies).stream())
          .filter(dependency -> text(dependency, "groupId").equals(GROUP))
          .filter(
              dependency ->
                  child(dependency, "scope")
                      .map(scope -> scope.getTextContent().equals("runtime"))
                      .orElse(true))
          .map(dependency -> text(dependency, "artifactId"))
          .filter(needed -> !published().contains(needed))
          .forEach(needed -> missing.add(artifact + " needs " + needed));
    }
    assertEquals(List.of(), missing);
  }

  private static Set<String> published() {
    return poms.entrySet().stream()
        .filter(
            pom ->
                child(pom.getValue(), "properties")
                    .flatMap(properties -> child(properties, "maven.deploy.skip"))
                    .map(skip -> skip.getTextContent().equals("false"))
                    .orElse(false))
        .map(Map.Entry::getKey)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static List<Path> files() throws IOException {
    try (Stream<Path> files = Files.walk(LauncherTree.PROJECT, 3)) {
      return files
          .filter(file -> file.endsWith("pom.xml"))
          .filter(file -> !LauncherTree.PROJECT.relativize(file).toString().contains("target/"))
          // What users' programs need is no part of the build.
          .filter(file -> !file.startsWith(LauncherTree.PROJECT.resolve("examples")))
          .toList();
    }
  }

  private static String text(Element parent, String name) {
    return child(parent, name)
        .orElseThrow(() -> new AssertionError("no " + name + " in " + parent.getTextContent()))
        .getTextContent()
        .strip();
  }

  private static String texts(Element parent, String name) {
    return text(parent, name).replaceAll("\\s+", " ");
  }

  private static Optional<Element> child(Element parent, String name) {
    return children(parent).stream().filter(one -> one.getTagName().equals(name)).findFirst();
  }

  private static List<Element> children(Element parent) {
    return IntStream.range(0, parent.getChildNodes().getLength())
        .mapToObj(parent.getChildNodes()::item)
        .filter(node -> node.getNodeType() == Node.ELEMENT_NODE)
        .map(Element.class::cast)
        .toList();
  }
}
