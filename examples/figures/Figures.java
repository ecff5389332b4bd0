package figures;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import launch.Measured;

/**
 * Draws what the examples measured as SVG, and prints it as tables in Markdown:
 *
 * <pre>./jofi run examples/figures/Figures.java FILE.svg RAW …</pre>
 *
 * <p>Time over the number of ranks, both axes logarithmic: a mark is a median, the line through it goes from the shortest
 * round to the longest. Colours are those of Okabe and Ito, which people with any kind of colour blindness can tell apart;
 * dashes and marks say the same without colour.
 */
public final class Figures {
  private static final int WIDTH = 900;
  private static final int LEFT = 80;
  private static final int RIGHT = 660;
  private static final int HEIGHT = 300;
  private static final int PANEL = 420;

  /** A program, as it is shown. */
  private record Panel(String program, String title, String unit) {}

  private static final List<Panel> PANELS =
      List.of(
          new Panel("training", "Data-parallel training with DJL: ms a step, the batch being the same", "ms a step"),
          new Panel("inference", "Tensor-parallel inference: ms a token", "ms a token"));

  /** How a line looks. */
  private record Style(String name, String colour, String dash, String mark) {}

  private static final Map<String, Style> STYLES =
      Map.of(
          "shm jofi", new Style("jofi, shm", "#0072B2", "none", "M0 -5L5 0L0 5L-5 0Z"),
          "net jofi", new Style("jofi, net", "#D55E00", "none", "M-4 -4H4V4H-4Z"),
          "tcp star-grpc", new Style("star, gRPC", "#009E73", "8 4", "M0 -5L5 4H-5Z"),
          "tcp star-sockets", new Style("star, sockets", "#CC79A7", "3 3", "M0 5L5 -4H-5Z"),
          "none one-rank", new Style("one rank", "#000000", "none", "M-5 -1H5V1H-5Z"));

  private final StringBuilder svg = new StringBuilder();

  private Figures() {}

  public static void main(String... arguments) throws IOException {
    if (arguments.length < 2 || !arguments[0].endsWith(".svg")) {
      System.err.println("usage: ./jofi run examples/figures/Figures.java FILE.svg RAW ...");
      System.exit(2);
    }
    List<Measured> all = new ArrayList<>();
    for (String file : List.of(arguments).subList(1, arguments.length)) {
      try (Stream<String> lines = Files.lines(Path.of(file))) {
        lines.map(Measured::of).flatMap(Optional::stream).forEach(all::add);
      }
    }
    if (all.isEmpty()) {
      System.err.println("Figures: there is no line of a measurement in these files");
      System.exit(1);
    }
    Files.writeString(Path.of(arguments[0]), new Figures().draw(all));
    for (Panel panel : PANELS) {
      table(panel, of(panel, all)).forEach(System.out::println);
    }
    ratios(all).forEach(System.out::println);
  }

  /** A star's time by that of jofi just before it: what else the machine does slows both. */
  private static List<String> ratios(List<Measured> all) {
    Map<String, List<Double>> ratios = new LinkedHashMap<>();
    Measured before = all.getFirst();
    for (Measured each : all) {
      if (each.way().startsWith("star-")
          && before.way().equals("jofi")
          && before.ranks() == each.ranks()
          && before.round() == each.round()) {
        String row =
            "| %s | %d | %s | %s |"
                .formatted(each.program(), each.ranks(), style(each).name, style(before).name);
        ratios.computeIfAbsent(row, none -> new ArrayList<>()).add(each.millis() / before.millis());
      }
      before = each;
    }
    List<String> lines = new ArrayList<>();
    lines.add("");
    lines.add("| | ranks | star | beside | star's time / jofi's, median of rounds | of rounds |");
    lines.add("|---|---|---|---|---|---|");
    ratios.forEach(
        (row, each) -> {
          List<Double> sorted = each.stream().sorted().toList();
          lines.add(
              String.format(
                  Locale.ROOT,
                  "%s %.2f | %.2f – %.2f |",
                  row,
                  sorted.get((sorted.size() - 1) / 2),
                  sorted.getFirst(),
                  sorted.getLast()));
        });
    return lines;
  }

  private static Collection<List<Measured>> of(Panel panel, List<Measured> all) {
    return Measured.byWay(all.stream().filter(each -> each.program().equals(panel.program)).toList());
  }

  private static List<List<Measured>> byRanks(Collection<List<Measured>> ways) {
    return ways.stream()
        .sorted(
            Comparator.<List<Measured>>comparingInt(each -> each.getFirst().ranks())
                .thenComparing(each -> style(each.getFirst()).name))
        .toList();
  }

  private static Style style(Measured one) {
    String key = one.provider() + " " + one.way();
    return STYLES.getOrDefault(key, new Style(key, "#E69F00", "none", "M-4 -4H4V4H-4Z"));
  }

  private static double median(List<Measured> rounds) {
    return Measured.median(rounds, Measured::millis);
  }

  private static List<String> table(Panel panel, Collection<List<Measured>> ways) {
    boolean inference = panel.program.equals("inference");
    List<String> lines = new ArrayList<>();
    lines.add("");
    lines.add("| ranks | sums by | %s | of rounds | %swaiting for sums |".formatted(panel.unit, inference ? "tokens a second | " : ""));
    lines.add("|---|---|---|---|---|" + (inference ? "---|" : ""));
    for (List<Measured> rounds : byRanks(ways)) {
      double[] sorted = rounds.stream().mapToDouble(Measured::millis).sorted().toArray();
      lines.add(
          String.format(
              Locale.ROOT,
              "| %d | %s | %.1f | %.1f – %.1f | %s%.0f %% |",
              rounds.getFirst().ranks(),
              style(rounds.getFirst()).name,
              median(rounds),
              sorted[0],
              sorted[sorted.length - 1],
              inference ? String.format(Locale.ROOT, "%.0f | ", 1e3 / median(rounds)) : "",
              100 * Measured.median(rounds, Measured::waitedShare)));
    }
    return lines;
  }

  private String draw(List<Measured> all) {
    int height = 30 + PANEL * PANELS.size();
    line(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" font-family=\"sans-serif\" font-size=\"13\">",
        WIDTH, height, WIDTH, height);
    line("<title>Training and inference over jofi's collectives, and over a star</title>");
    line("<rect width=\"%d\" height=\"%d\" fill=\"#FFFFFF\"/>", WIDTH, height);
    int top = 60;
    for (Panel panel : PANELS) {
      Collection<List<Measured>> ways = of(panel, all);
      if (!ways.isEmpty()) {
        panel(panel, ways, top);
        top += PANEL;
      }
    }
    line("</svg>");
    return svg.toString();
  }

  private void panel(Panel panel, Collection<List<Measured>> ways, int top) {
    double[] figures = ways.stream().flatMap(List::stream).mapToDouble(Measured::millis).sorted().toArray();
    int[] ranks = ways.stream().mapToInt(each -> each.getFirst().ranks()).distinct().sorted().toArray();
    // From and to the next 1, 2 or 5: whole powers of ten would leave most of the panel empty.
    double least = step(figures[0], -1);
    double most = Math.max(step(figures[figures.length - 1], 1), 2 * least);
    line("<g id=\"%s\">", panel.program);
    text(LEFT, top - 16, "start", panel.title);
    for (double value = least; value <= most * 1.001; value = step(value * 1.01, 1)) {
      double y = y(value, least, most, top);
      grid(LEFT, y, RIGHT, y);
      text(LEFT - 8, y + 4, "end", value < 1 ? String.format(Locale.ROOT, "%.2f", value) : "%.0f".formatted(value));
    }
    for (int each : ranks) {
      grid(x(each, ranks), top, x(each, ranks), top + HEIGHT);
      text(x(each, ranks), top + HEIGHT + 20, "middle", Integer.toString(each));
    }
    text((LEFT + RIGHT) / 2.0, top + HEIGHT + 42, "middle", "ranks (processes on one machine)");
    line(
        "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#000000\"/>",
        LEFT, top, RIGHT - LEFT, HEIGHT);

    Map<String, List<List<Measured>>> lines =
        ways.stream().collect(Collectors.groupingBy(each -> style(each.getFirst()).name, TreeMap::new, Collectors.toList()));
    List<List<Measured>> alone = lines.getOrDefault(STYLES.get("none one-rank").name, List.of());
    int legend = top + 14;
    int shift = 0;
    for (List<List<Measured>> way : lines.values()) {
      Style style = style(way.getFirst().getFirst());
      StringBuilder points = new StringBuilder();
      for (List<Measured> rounds : byRanks(Stream.concat(alone.stream(), way.stream()).distinct().toList())) {
        points.append(
            "%s,%s "
                .formatted(
                    number(x(rounds.getFirst().ranks(), ranks)), number(y(median(rounds), least, most, top))));
      }
      polyline(style, points.toString().strip());
      for (List<Measured> rounds : way) {
        // Beside each other, so that the lines from shortest to longest do not cover each other.
        double x = x(rounds.getFirst().ranks(), ranks) + (way == alone ? 0 : 4 * shift - 6);
        double[] sorted = rounds.stream().mapToDouble(Measured::millis).sorted().toArray();
        line(
            "<path d=\"M%s %sV%s\" stroke=\"%s\"/>",
            number(x),
            number(y(sorted[0], least, most, top)),
            number(y(sorted[sorted.length - 1], least, most, top)),
            style.colour);
        mark(style, x(rounds.getFirst().ranks(), ranks), y(median(rounds), least, most, top));
      }
      polyline(style, "%d,%d %d,%d".formatted(RIGHT + 20, legend, RIGHT + 64, legend));
      mark(style, RIGHT + 42, legend);
      text(RIGHT + 74, legend + 4, "start", style.name);
      legend += 24;
      shift++;
    }
    line("</g>");
  }

  /** The next of 1, 2, 5, 10, 20 … that is not less, or not more. */
  private static double step(double value, int direction) {
    double power = Math.pow(10, Math.floor(Math.log10(value)));
    double best = direction > 0 ? 10 * power : power;
    for (double digit : new double[] {1, 2, 5}) {
      double each = digit * power;
      if (direction > 0 ? each >= value && each < best : each <= value && each > best) {
        best = each;
      }
    }
    return best;
  }

  private static double x(int ranks, int[] all) {
    double least = Math.log(all[0]);
    double most = Math.max(Math.log(all[all.length - 1]), least + 1);
    return LEFT + 40 + (RIGHT - LEFT - 80) * (Math.log(ranks) - least) / (most - least);
  }

  private static double y(double value, double least, double most, int top) {
    return top + HEIGHT * Math.log(most / value) / Math.log(most / least);
  }

  private void grid(double fromX, double fromY, double toX, double toY) {
    line(
        "<path d=\"M%s %sL%s %s\" stroke=\"#D0D0D0\"/>",
        number(fromX), number(fromY), number(toX), number(toY));
  }

  private void polyline(Style style, String points) {
    line(
        "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>",
        points, style.colour, style.dash);
  }

  private void mark(Style style, double x, double y) {
    line(
        "<path d=\"%s\" transform=\"translate(%s %s)\" fill=\"%s\" stroke=\"#000000\" stroke-width=\"0.7\"/>",
        style.mark, number(x), number(y), style.colour);
  }

  private void text(double x, double y, String anchor, String words) {
    line("<text x=\"%s\" y=\"%s\" text-anchor=\"%s\">%s</text>", number(x), number(y), anchor, words);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  private void line(String format, Object... values) {
    svg.append(values.length == 0 ? format : format.formatted(values)).append('\n');
  }
}
