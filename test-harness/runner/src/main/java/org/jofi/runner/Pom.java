package org.jofi.runner;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/** What a pom says of tests: its properties, those of a profile, and how Surefire is set. */
final class Pom {
  private final Element project;

  private Pom(Element project) {
    this.project = project;
  }

  /**
   * Reads one.
   *
   * @throws IOException if there is none, or it is no XML
   */
  static Pom read(Path file) throws IOException {
    try {
      DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
      factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
      return new Pom(factory.newDocumentBuilder().parse(file.toFile()).getDocumentElement());
    } catch (SAXException unreadable) {
      throw new IOException("unreadable: " + file + ": " + unreadable.getMessage(), unreadable);
    } catch (ParserConfigurationException impossible) {
      throw new IllegalStateException("this JDK has no XML parser", impossible);
    }
  }

  String artifact() {
    return child(project, "artifactId").orElseThrow().getTextContent();
  }

  String version() {
    return child(project, "version").orElseThrow().getTextContent();
  }

  /** The properties outside of profiles. */
  Map<String, String> properties() {
    return child(project, "properties").map(Pom::texts).orElse(Map.of());
  }

  /** The properties of a profile. */
  Map<String, String> profile(String id) {
    return child(project, "profiles").stream()
        .flatMap(profiles -> children(profiles).stream())
        .filter(profile -> child(profile, "id").orElseThrow().getTextContent().equals(id))
        .flatMap(profile -> child(profile, "properties").stream())
        .findFirst()
        .map(Pom::texts)
        .orElse(Map.of());
  }

  /** How Surefire is set: the text of an element of its configuration, the first of that name. */
  String surefire(String name) {
    return surefireElement(name).getTextContent().strip();
  }

  /** The same of an element that holds elements. */
  Map<String, String> surefireTexts(String name) {
    return texts(surefireElement(name));
  }

  private Element surefireElement(String name) {
    return elements(project, "plugin").stream()
        .filter(
            plugin ->
                child(plugin, "artifactId")
                    .orElseThrow()
                    .getTextContent()
                    .equals("maven-surefire-plugin"))
        .flatMap(plugin -> elements(plugin, name).stream())
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("Surefire's " + name + " is not set"));
  }

  private static Map<String, String> texts(Element parent) {
    Map<String, String> texts = new LinkedHashMap<>();
    children(parent).forEach(one -> texts.put(one.getTagName(), one.getTextContent().strip()));
    return texts;
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

  private static List<Element> elements(Element parent, String name) {
    return IntStream.range(0, parent.getElementsByTagName(name).getLength())
        .mapToObj(parent.getElementsByTagName(name)::item)
        .map(Element.class::cast)
        .toList();
  }
}
