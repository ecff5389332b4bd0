package org.jofi.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;

class ReportTest {
  private static final Report REPORT =
      new Report(
          new Report.Description("shm", "libfabric 1.17", "shm shm shm", "mr_mode VIRT_ADDR"),
          List.of(
              Result.kept(Cases.named("rma/read"), 1_000_000),
              Result.broken(
                  Cases.named("rma/empty-write"),
                  "it to complete",
                  "it | did\u0000 <not>\nat all",
                  "shm",
                  2_000_000),
              Result.notClaimed(Cases.named("keys/unique"), "takes the application's keys", 0)),
          3_000_000);

  @Test
  void resultsPassTheWireWhole() {
    for (Result result : REPORT.results()) {
      Wire.Message message = Wire.parse("unfinished" + Wire.result(result).encode()).orElseThrow();
      assertEquals(result, Wire.result(message, result.kase()));
    }
    assertEquals(
        REPORT.description(),
        Wire.description(
            Wire.parse(Wire.description(REPORT.description()).encode()).orElseThrow()));
    assertTrue(Wire.parse("what a provider prints").isEmpty());
  }

  @Test
  void countsAreByArea() {
    assertEquals(new Report.Count(1, 1, 0), REPORT.byArea().get(Area.RMA));
    assertEquals(new Report.Count(0, 0, 1), REPORT.byArea().get(Area.KEYS));
    assertEquals(new Report.Count(1, 1, 1), REPORT.total());
  }

  @Test
  void xmlIsWellFormedWhateverAProviderSays(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("results.xml");
    JunitXml.write(Judgement.of(REPORT), file);
    Element suites =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(file.toFile())
            .getDocumentElement();
    assertEquals("3", suites.getAttribute("tests"));
    assertEquals("1", suites.getAttribute("failures"));
    assertEquals(1, suites.getElementsByTagName("failure").getLength());
    assertEquals("1", suites.getAttribute("skipped"));
    assertEquals(1, suites.getElementsByTagName("skipped").getLength());
    Element failure = (Element) suites.getElementsByTagName("failure").item(0);
    assertEquals("known", failure.getAttribute("type"));
    assertTrue(Files.size(file) > 0);
  }

  @Test
  void markdownKeepsItsTables() {
    String section = Markdown.section(Judgement.of(REPORT));
    assertTrue(section.startsWith("## `shm` of libfabric 1.17\n"), section);
    assertTrue(section.contains("| RMA | 1 | 1 | 0 |"), section);
    assertTrue(
        section.lines().filter(line -> line.startsWith("| `rma/empty-write` |")).count() == 1,
        section);
    assertTrue(
        section.contains("| `rma/empty-write` | libfabric 1.17, in every run | fi_rma(3)"),
        section);
    assertTrue(section.contains("- `keys/unique`: takes the application's keys"), section);
  }

  @Test
  void idsAreUniqueAndRulesCiteAPage() {
    Set<String> ids = new TreeSet<>();
    for (Case kase : Cases.all()) {
      assertTrue(ids.add(kase.id()), kase::id);
      assertTrue(kase.rule().matches("(?s)(fi_\\w+|fabric)\\(\\d\\).*: .*"), kase::rule);
    }
    for (Area area : Area.values()) {
      assertTrue(!Cases.of(area).isEmpty(), area::title);
      assertEquals(area, Area.named(area.slug()));
    }
  }
}
