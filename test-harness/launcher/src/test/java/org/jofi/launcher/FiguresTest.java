package org.jofi.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The tables of jofi and its twins in C have the medians of the raw files that they name. */
class FiguresTest {
  private static final Path ROOT = LauncherTree.PROJECT;
  private static final Pattern RAW = Pattern.compile("((?:transport|fabric)-twins[\\w.-]*\\.txt)");

  /** Who, provider, bytes, how many in flight, rails, figure. */
  private static final Pattern TRANSPORT_RUN =
      Pattern.compile("(?m)^(C|jofi) (\\w+) (\\d+) \\d+ (\\d+) ([\\d.]+)$");

  /** Provider, what, run, who, figure. */
  private static final Pattern FABRIC_RUN =
      Pattern.compile("(?m)^(\\w+) ([\\w-]+) run \\d+ (c|jofi) median ([\\d.]+) ");

  private static final Pattern ROW =
      Pattern.compile(
          "\\| (\\w+)(?: \\(tcp\\))?, (empty poll|8 bytes|64 KiB|1 MiB)(?:, (\\d) rails?)?.*");

  private static final Map<String, String> BYTES =
      Map.of("8 bytes", "8", "64 KiB", "65536", "1 MiB", "1048576");

  @ParameterizedTest
  @CsvSource({"README.md, 4", "docs/PERFORMANCE.md, 36"})
  void tablesHaveTheMediansOfTheirFiles(Path page, int atLeast) throws IOException {
    List<String> wrong = new ArrayList<>();
    Map<String, List<Double>> runs = Map.of();
    List<String> header = List.of();
    boolean fabric = false;
    int rows = 0;
    for (String line : Files.readAllLines(ROOT.resolve(page))) {
      Matcher raw = RAW.matcher(line);
      while (raw.find()) {
        fabric = raw.group(1).startsWith("fabric");
        runs = runs(Files.readString(ROOT.resolve("docs/performance").resolve(raw.group(1))));
      }
      List<String> cells = Arrays.stream(line.split("\\|")).map(String::strip).toList();
      if (cells.contains("C") && cells.contains("jofi")) {
        header = cells;
      }
      Matcher row = ROW.matcher(line);
      if (row.matches()) {
        rows++;
        String what = key(row, fabric);
        double c = median(runs.get("C " + what), line);
        double jofi = median(runs.get("jofi " + what), line);
        check(wrong, line, cells.get(header.indexOf("C")), c);
        check(wrong, line, cells.get(header.indexOf("jofi")), jofi);
        check(wrong, line, cells.get(header.indexOf("ratio")), jofi / c);
      }
    }
    assertEquals(List.of(), wrong);
    assertTrue(rows >= atLeast, "found only " + rows + " rows");
  }

  private static String key(Matcher row, boolean fabric) {
    if (fabric) {
      return row.group(1) + (row.group(2).equals("empty poll") ? " poll" : " half-round-trip");
    }
    String rails = row.group(3) == null ? "1" : row.group(3);
    return row.group(1) + " " + BYTES.get(row.group(2)) + " " + rails;
  }

  private static Map<String, List<Double>> runs(String raw) {
    Map<String, List<Double>> runs = new HashMap<>();
    Matcher transport = TRANSPORT_RUN.matcher(raw);
    while (transport.find()) {
      String what = String.join(" ", transport.group(2), transport.group(3), transport.group(4));
      add(runs, transport.group(1) + " " + what, transport.group(5));
    }
    Matcher fabric = FABRIC_RUN.matcher(raw);
    while (fabric.find()) {
      String who = fabric.group(3).equals("c") ? "C" : "jofi";
      add(runs, who + " " + fabric.group(1) + " " + fabric.group(2), fabric.group(4));
    }
    return runs;
  }

  private static void add(Map<String, List<Double>> runs, String what, String figure) {
    runs.computeIfAbsent(what, key -> new ArrayList<>()).add(Double.parseDouble(figure));
  }

  private static double median(List<Double> figures, String line) {
    assertTrue(figures != null, () -> "no raw figures of: " + line);
    List<Double> sorted = figures.stream().sorted().toList();
    assertEquals(1, sorted.size() % 2, () -> "an even number of runs of: " + line);
    return sorted.get(sorted.size() / 2);
  }

  /** Notes the line unless the figure shown is that one, rounded as it is shown. */
  private static void check(List<String> wrong, String line, String shown, double figure) {
    String digits = shown.replaceAll("[^\\d.]", "");
    int point = digits.indexOf('.');
    double unit = Math.pow(10, point < 0 ? 0 : point + 1 - digits.length());
    if (Math.abs(Double.parseDouble(digits) - figure) > unit / 2 + 1e-9) {
      wrong.add("%s has %s, and the raw files %.3f".formatted(line, shown, figure));
    }
  }
}
