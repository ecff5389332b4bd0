package org.jofi.conformance;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/** A report in the XML that CI systems read, one suite for each area. */
public final class JunitXml {
  private JunitXml() {}

  /**
   * Writes a report.
   *
   * @throws IOException if the file cannot be written
   */
  public static void write(Report report, Path file) throws IOException {
    try (OutputStream out = Files.newOutputStream(file)) {
      XMLStreamWriter xml = XMLOutputFactory.newFactory().createXMLStreamWriter(out, "UTF-8");
      try {
        xml.writeStartDocument("UTF-8", "1.0");
        suites(xml, report);
        xml.writeEndDocument();
      } finally {
        xml.close();
      }
    } catch (XMLStreamException e) {
      throw new IOException("cannot write " + file + ": " + e.getMessage(), e);
    }
  }

  private static void suites(XMLStreamWriter xml, Report report) throws XMLStreamException {
    Report.Count total = report.total();
    xml.writeStartElement("testsuites");
    xml.writeAttribute(
        "name", report.description().subject() + " of " + report.description().source());
    xml.writeAttribute("tests", Integer.toString(report.results().size()));
    xml.writeAttribute("failures", Integer.toString(total.failed()));
    for (Area area : report.byArea().keySet()) {
      suite(
          xml,
          report,
          area,
          report.results().stream().filter(result -> result.kase().area() == area).toList());
    }
    xml.writeEndElement();
  }

  private static void suite(XMLStreamWriter xml, Report report, Area area, List<Result> results)
      throws XMLStreamException {
    Report.Count count = report.byArea().getOrDefault(area, new Report.Count(0, 0, 0));
    xml.writeStartElement("testsuite");
    xml.writeAttribute("name", area.title());
    xml.writeAttribute("tests", Integer.toString(results.size()));
    xml.writeAttribute("failures", Integer.toString(count.failed()));
    xml.writeAttribute("skipped", Integer.toString(count.notClaimed()));
    for (Result result : results) {
      testCase(xml, report.description().subject(), result);
    }
    xml.writeEndElement();
  }

  private static void testCase(XMLStreamWriter xml, String subject, Result result)
      throws XMLStreamException {
    xml.writeStartElement("testcase");
    xml.writeAttribute("classname", clean(subject) + "." + result.kase().area().slug());
    xml.writeAttribute("name", result.kase().name());
    xml.writeAttribute("time", String.format(Locale.ROOT, "%.3f", result.nanos() / 1e9));
    switch (result.verdict()) {
      case PASSED -> {}
      case FAILED -> {
        xml.writeStartElement("failure");
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
