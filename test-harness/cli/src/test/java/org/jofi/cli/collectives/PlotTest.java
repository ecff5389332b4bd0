package org.jofi.cli.collectives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.xml.parsers.DocumentBuilderFactory;
import org.jofi.collectives.Collective;
import org.jofi.collectives.DataType;
import org.jofi.collectives.GroupOptions;
import org.jofi.collectives.Reduction;
import org.jofi.collectives.schedule.Operation;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class PlotTest {
  private static List<CollectivesRow> rows(int ranks, Long... sizes) {
    CollectivesPlan plan =
        new CollectivesPlan(
            List.of(Operation.Kind.values()),
            List.of(sizes),
            0,
            -1,
            DataType.F32,
            Reduction.SUM,
            0,
            "",
            GroupOptions.defaults(),
            false);
    List<CollectivesRow> rows = new ArrayList<>();
    for (Operation.Kind kind : plan.operations()) {
      for (Collective each : plan.collectives(kind, ranks)) {
        long nanos = 3_000 + 700 * rows.size() + CollectivesPlan.bytes(each, ranks);
        rows.add(CollectivesRow.of(ranks, each, "ring", "", new long[] {nanos}, 0));
      }
    }
    return rows;
  }

  private static Document parse(String svg) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(svg)));
  }

  private static List<Element> lines(Document document, String panel) {
    NodeList all = document.getElementsByTagName("polyline");
    List<Element> lines = new ArrayList<>();
    for (int i = 0; i < all.getLength(); i++) {
      Element line = (Element) all.item(i);
      if (!line.getAttribute("class").isEmpty()
          && line.getParentNode() instanceof Element group
          && group.getAttribute("id").equals(panel)) {
        lines.add(line);
      }
    }
    return lines;
  }

  @Test
  void thereIsALineForEachOperation() throws Exception {
    Document document = parse(Plot.draw("<a> & \"b\"\u0007", rows(4, 16L, 1L << 12, 1L << 20)));
    assertEquals("<a> & \"b\" ", document.getElementsByTagName("title").item(0).getTextContent());
    List<Element> times = lines(document, "time");
    assertEquals(9, times.size());
    // A barrier moves no bytes.
    assertEquals(8, lines(document, "bandwidth").size());
    Set<String> looks = new HashSet<>();
    for (Element line : times) {
      assertTrue(
          looks.add(line.getAttribute("stroke") + line.getAttribute("stroke-dasharray")),
          looks::toString);
      double before = -1;
      String[] points = line.getAttribute("points").split(" ", -1);
      assertEquals(line.getAttribute("class").equals("barrier") ? 2 : 3, points.length);
      for (String point : points) {
        double x = Double.parseDouble(point.split(",", -1)[0]);
        double y = Double.parseDouble(point.split(",", -1)[1]);
        assertTrue(x > before && x >= 80 && x <= 760, point);
        assertTrue(y >= 70 && y <= 390, point);
        before = x;
      }
    }
    assertTrue(looks.size() == 9);
  }

  /** A single length, and a bandwidth of 0, which no logarithmic axis has. */
  @Test
  void oneRankAndOneLengthHaveAPictureToo() throws Exception {
    String svg = Plot.draw("one", rows(1, 4L));
    assertFalse(svg.contains("NaN") || svg.contains("Infinity"), svg);
    assertEquals(9, lines(parse(svg), "time").size());
    assertEquals(2, lines(parse(svg), "bandwidth").size());
    assertFalse(Plot.draw("none", List.of()).contains("NaN"));
  }
}
