package org.jofi.conformance;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import org.jofi.conformance.rule.Area;

/**
 * A report in the XML that CI systems read, one suite for each area. A kept rule is a test that
 * passed, and one that is not claimed a test that was skipped. A broken rule is a failure, a known
 * one too, whose type is {@value #KNOWN}: there is no fourth outcome, and it is neither of the
 * others.
 */
public final class JunitXml {
  private static final String KNOWN = "known";
  private static final String BROKEN = "broken";

  private JunitXml() {}

  /**
   * Writes a report.
   *
   * @throws IOException if the file cannot be written
   */
  public static void write(Judgement judgement, Path file) throws IOException {
    try (OutputStream out = Files.newOutputStream(file)) {
      XMLStreamWriter xml = XMLOutputFactory.newFactory().createXMLStreamWriter(out, "UTF-8");
      try {
        xml.writeStartDocument("UTF-8", "1.0");
        suites(xml, judgement);
        xml.writeEndDocument();
      } finally {
        xml.close();
      }
    } catch (XMLStreamException e) {
      throw new IOException("cannot write " + file + ": " + e.getMessage(), e);
    }
  }

  private static void suites(XMLStreamWriter xml, Judgement judgement) throws XMLStreamException {
    Report report = judgement.report();
    Report.Count total = report.total();
    xml.writeStartElement("testsuites");
    xml.writeAttribute(
        "name", report.description().subject() + " of " + report.description().source());
    xml.writeAttribute("tests", Integer.toString(report.results().size()));
    xml.writeAttribute("failures", Integer.toString(total.broken()));
    xml.writeAttribute("skipped", Integer.toString(total.notClaimed()));
    for (Area area : report.byArea().keySet()) {
      suite(
          xml,
          judgement,
          area,
          report.results().stream().filter(result -> result.kase().area() == area).toList());
    }
    xml.writeEndElement();
  }

  private static void suite(
      XMLStreamWriter xml, Judgement judgement, Area area, List<Result> results)
      throws XMLStreamException {
    Report.Count count = judgement.report().byArea().getOrDefault(area, new Report.Count(0, 0, 0));
    xml.writeStartElement("testsuite");
    xml.writeAttribute("name", area.title());
    xml.writeAttribute("tests", Integer.toString(results.size()));
    xml.writeAttribute("failures", Integer.toString(count.broken()));
    xml.writeAttribute("skipped", Integer.toString(count.notClaimed()));
    for (Result result : results) {
      testCase(xml, judgement, result);
    }
    xml.writeEndElement();
  }

  private static void testCase(XMLStreamWriter xml, Judgement judgement, Result result)
      throws XMLStreamException {
    String subject = judgement.report().description().subject();
    xml.writeStartElement("testcase");
    xml.writeAttribute("classname", clean(subject) + "." + result.kase().area().slug());
    xml.writeAttribute("name", result.kase().name());
    xml.writeAttribute("time", String.format(Locale.ROOT, "%.3f", result.nanos() / 1e9));
    switch (result.verdict()) {
      case KEPT -> {}
      case BROKEN -> {
        Optional<KnownFailure> known = judgement.known(result);
        xml.writeStartElement("failure");
        xml.writeAttribute("type", known.isPresent() ? KNOWN : BROKEN);
        xml.writeAttribute("message", clean(result.happened()));
        xml.writeCharacters(clean(result.describe()));
        xml.writeEndElement();
      }
      case NOT_CLAIMED -> {
        xml.writeEmptyElement("skipped");
        xml.writeAttribute("message", clean(result.reason()));
      }
    }
    xml.writeEndElement();
  }

  /** Without what XML cannot hold; a provider's words may hold anything. */
  private static String clean(String text) {
    return text.replaceAll("[^\\t\\n\\r\\x{20}-\\x{D7FF}\\x{E000}-\\x{FFFD}]", "?");
  }
}
