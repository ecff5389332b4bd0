package org.jofi.launcher;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;
import org.xml.sax.helpers.DefaultHandler;

/**
 * Adds up every Surefire report below a folder, and names each test that failed or was skipped,
 * with the reason.
 *
 * <p>The launcher runs this file as it stands, from source: it uses nothing outside the JDK.
 */
public final class TestSummary {
  private static final Pattern REPORT =
      Pattern.compile("(?<module>.*)/target/surefire-reports(?<pass>-[^/]*)?/TEST-[^/]*\\.xml");

  private static final String USAGE = "usage: TestSummary [--times ROWS] FOLDER";

  /** Something that took time, and how much. */
  private record Timed(double seconds, String name) {}

  private int passed;
  private final List<Timed> classes = new ArrayList<>();
  private final List<Timed> tests = new ArrayList<>();
  private final List<String> failed = new ArrayList<>();
  private final List<String> skipped = new ArrayList<>();

  /**
   * Prints the summary of all reports below a folder; its last line is {@code N passed, N failed, N
   * skipped}. Exits with 1 if a test failed or none ran.
   *
   * @param args {@code [--times ROWS] FOLDER}: with {@code --times}, the slowest classes and tests
   *     are listed as well
   * @throws IOException if a report cannot be read, a truncated one included
   */
  public static void main(String[] args) throws IOException {
    boolean times = args.length == 3 && args[0].equals("--times");
    if (args.length != 1 && !times) {
      System.err.println(USAGE);
      System.exit(2);
    }
    TestSummary summary = of(Path.of(args[args.length - 1]));
    if (times) {
      summary.printTimes(System.out, Integer.parseInt(args[1]));
    }
    summary.print(System.out);
    System.exit(summary.isGreen() ? 0 : 1);
  }

  /**
   * Reads every report below a folder.
   *
   * @throws IOException if a report cannot be read
   */
  static TestSummary of(Path root) throws IOException {
    TestSummary summary = new TestSummary();
    DocumentBuilder parser = parser();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : (Iterable<Path>) files.sorted()::iterator) {
        Matcher report = REPORT.matcher(root.relativize(file).toString());
        if (report.matches()) {
          summary.add(origin(report), file, parser);
        }
      }
    }
    return summary;
  }

  /** True if at least one test ran and none failed. */
  boolean isGreen() {
    return failed.isEmpty() && passed > 0;
  }

  /** Prints the slowest classes and the slowest tests, at most so many of each. */
  void printTimes(PrintStream out, int rows) {
    printSlowest(out, "classes", classes, rows);
    printSlowest(out, "tests", tests, rows);
  }

  private static void printSlowest(PrintStream out, String what, List<Timed> all, int rows) {
    double sum = all.stream().mapToDouble(Timed::seconds).sum();
    out.printf(Locale.ROOT, "the slowest of %d %s, which took %.1f s:%n", all.size(), what, sum);
    all.stream()
        .sorted(Comparator.comparingDouble(Timed::seconds).reversed())
        .limit(rows)
        .forEach(one -> out.printf(Locale.ROOT, "%8.1f s  %s%n", one.seconds, one.name));
  }

  /** Prints failures, then skipped tests, then the counts. */
  void print(PrintStream out) {
    if (passed == 0 && failed.isEmpty() && skipped.isEmpty()) {
      out.println("no test ran; those that are long run with --all only");
    }
    failed.forEach(line -> out.println("failed: " + line));
    skipped.forEach(line -> out.println("skipped: " + line));
    out.printf("%d passed, %d failed, %d skipped%n", passed, failed.size(), skipped.size());
  }

  private void add(String origin, Path report, DocumentBuilder parser) throws IOException {
    Element suite;
    try {
      suite = parser.parse(report.toFile()).getDocumentElement();
    } catch (SAXException unreadable) {
      throw new IOException(
          "unreadable test report " + report + ": " + unreadable.getMessage(), unreadable);
    }
    classes.add(new Timed(seconds(suite), origin + ": " + suite.getAttribute("name")));
    NodeList cases = suite.getElementsByTagName("testcase");
    for (int i = 0; i < cases.getLength(); i++) {
      Element test = (Element) cases.item(i);
      String name = origin + ": " + name(test);
      tests.add(new Timed(seconds(test), name));
      if (has(test, "failure") || has(test, "error")) {
        failed.add(name);
      } else if (has(test, "skipped")) {
        skipped.add(name + ": " + reason((Element) test.getElementsByTagName("skipped").item(0)));
      } else {
        passed++;
      }
    }
  }

  /** The module, and what distinguishes this pass of its tests if there are several. */
  private static String origin(Matcher report) {
    String pass = report.group("pass");
    return report.group("module") + (pass == null ? "" : " (" + pass.substring(1) + ")");
  }

  private static String name(Element test) {
    String type = test.getAttribute("classname");
    String method = test.getAttribute("name");
    return method.isEmpty() || method.equals(type) ? type : type + "." + method;
  }

  /**
   * What a skipped test gave as its reason; JUnit's exception and stack around it say nothing more.
   */
  private static String reason(Element skip) {
    String message = skip.getAttribute("message");
    String reason =
        (message.isEmpty() ? skip.getTextContent() : message)
            .lines()
            .map(String::strip)
            .takeWhile(line -> !line.startsWith("at "))
            .collect(Collectors.joining(" "))
            .replaceFirst("^[\\w.$]+Exception: ", "")
            .replaceFirst("^Assumption failed: ", "");
    return reason.isBlank() ? "no reason given" : reason;
  }

  /** Surefire separates thousands by commas; what a test did not take is not written. */
  private static double seconds(Element element) {
    String time = element.getAttribute("time").replace(",", "");
    return time.isEmpty() ? 0 : Double.parseDouble(time);
  }

  private static boolean has(Element test, String outcome) {
    return test.getElementsByTagName(outcome).getLength() > 0;
  }

  private static DocumentBuilder parser() {
    try {
      DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
      factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
      factory.setAttribute(XMLConstants.ACCESS_EXTERNAL_DTD, "");
      factory.setAttribute(XMLConstants.ACCESS_EXTERNAL_SCHEMA, "");
      DocumentBuilder parser = factory.newDocumentBuilder();
      // The parser's own handler prints to standard error; this one only throws.
      parser.setErrorHandler(new DefaultHandler());
      return parser;
    } catch (ParserConfigurationException impossible) {
      throw new IllegalStateException("this JDK has no XML parser", impossible);
    }
  }
}
