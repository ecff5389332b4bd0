package org.jofi.cli.collectives;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.jofi.collectives.schedule.Operation;

/**
 * A picture of a run as SVG: time and bus bandwidth over the length, both axes logarithmic, a line
 * for each operation. Colours are those of Okabe and Ito, which people with any kind of colour
 * blindness can tell apart; dashes and marks say the same without colour.
 */
public final class Plot {
  private static final int WIDTH = 960;
  private static final int HEIGHT = 880;
  private static final int LEFT = 80;
  private static final int RIGHT = 760;
  private static final int PANEL_HEIGHT = 320;
  private static final int FIRST_TOP = 70;
  private static final int SECOND_TOP = 480;
  private static final int TICKS_ACROSS = 12;

  /** How an operation's line looks. */
  private record Style(String colour, String dash, Mark mark) {}

  private enum Mark {
    CIRCLE,
    SQUARE,
    TRIANGLE,
    DIAMOND
  }

  private final StringBuilder svg = new StringBuilder();
  private final Map<Operation.Kind, List<CollectivesRow>> lines = new LinkedHashMap<>();
  private final int leastPower;
  private final int mostPower;

  private Plot(List<CollectivesRow> rows) {
    for (CollectivesRow row : rows) {
      lines.merge(
          row.operation(),
          List.of(row),
          (some, more) -> Stream.concat(some.stream(), more.stream()).toList());
    }
    leastPower =
        (int)
            Math.floor(
                log2(sizes(rows).min().orElse(1)) - (sizes(rows).distinct().count() < 2 ? 1 : 0));
    mostPower = Math.max(leastPower + 1, (int) Math.ceil(log2(sizes(rows).max().orElse(2))));
  }

  private static DoubleStream sizes(List<CollectivesRow> rows) {
    return rows.stream().mapToDouble(CollectivesRow::bytes).filter(bytes -> bytes > 0);
  }

  private static double log2(double of) {
    return Math.log(of) / Math.log(2);
  }

  /**
   * Draws it.
   *
   * @param title what was measured, and where
   * @param rows the results, of each operation with rising lengths
   * @return the text of a file
   */
  public static String draw(String title, List<CollectivesRow> rows) {
    Plot plot = new Plot(rows);
    plot.head(title);
    plot.panel("time", "time of a round (us)", FIRST_TOP, row -> row.medianNanos() / 1e3);
    plot.panel(
        "bandwidth", "bus bandwidth (MB/s)", SECOND_TOP, row -> row.busBytesPerSecond() / 1e6);
    plot.legend();
    plot.line("</svg>");
    return plot.svg.toString();
  }

  private static Style style(Operation.Kind operation) {
    return switch (operation) {
      case ALL_REDUCE -> new Style("#0072B2", "none", Mark.CIRCLE);
      case REDUCE_SCATTER -> new Style("#D55E00", "none", Mark.SQUARE);
      case ALL_GATHER -> new Style("#009E73", "none", Mark.TRIANGLE);
      case BROADCAST -> new Style("#CC79A7", "none", Mark.DIAMOND);
      case REDUCE -> new Style("#E69F00", "8 4", Mark.CIRCLE);
      case GATHER -> new Style("#56B4E9", "8 4", Mark.SQUARE);
      case SCATTER -> new Style("#000000", "8 4", Mark.TRIANGLE);
      case ALL_TO_ALL -> new Style("#F0E442", "none", Mark.DIAMOND);
      case BARRIER -> new Style("#000000", "2 4", Mark.CIRCLE);
    };
  }

  @SuppressWarnings("AnnotateFormatMethod") // The annotation would be a dependency of its own.
  private void line(String format, Object... values) {
    svg.append(values.length == 0 ? format : format.formatted(values)).append('\n');
  }

  private void head(String title) {
    String words = escaped(title);
    line(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" font-family=\"sans-serif\" font-size=\"13\">",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    line("<title>%s</title>", words);
    line("<rect width=\"%d\" height=\"%d\" fill=\"#FFFFFF\"/>", WIDTH, HEIGHT);
    text(LEFT, 30, "start", words);
  }

  private void text(double x, double y, String anchor, String escaped) {
    line(
        "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\">%s</text>",
        number(x), number(y), anchor, escaped);
  }

  /** One of the two pictures: its axes, and the lines of what is above 0. */
  private void panel(String name, String label, int top, ToDoubleFunction<CollectivesRow> value) {
    double[] values =
        lines.values().stream()
            .flatMap(List::stream)
            .mapToDouble(value)
            .filter(each -> each > 0)
            .toArray();
    int least = (int) Math.floor(Math.log10(DoubleStream.of(values).min().orElse(1)));
    int most =
        Math.max(least + 1, (int) Math.ceil(Math.log10(DoubleStream.of(values).max().orElse(10))));
    line("<g id=\"%s\">", name);
    for (int power = least; power <= most; power++) {
      double y = y(Math.pow(10, power), least, most, top);
      grid(LEFT, y, RIGHT, y);
      text(LEFT - 8, y + 4, "end", decimal(power));
    }
    int step = Math.ceilDiv(mostPower - leastPower, TICKS_ACROSS);
    for (int power = leastPower; power <= mostPower; power += step) {
      double x = x(Math.pow(2, power));
      grid(x, top, x, top + PANEL_HEIGHT);
      text(x, top + PANEL_HEIGHT + 18, "middle", size(power));
    }
    text((LEFT + RIGHT) / 2.0, top + PANEL_HEIGHT + 38, "middle", "size (bytes)");
    text(LEFT, top - 12, "start", label);
    line(
        "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#000000\"/>",
        LEFT, top, RIGHT - LEFT, PANEL_HEIGHT);
    lines.forEach(
        (operation, rows) -> {
          StringBuilder points = new StringBuilder();
          StringBuilder marks = new StringBuilder();
          Style style = style(operation);
          for (CollectivesRow row : rows) {
            double of = value.applyAsDouble(row);
            if (of > 0) {
              double y = y(of, least, most, top);
              if (row.bytes() == 0) {
                // Without a length it is the same for all.
                points.append(point(LEFT, y)).append(point(RIGHT, y));
              } else {
                points.append(point(x((double) row.bytes()), y));
                marks.append(mark(style, x((double) row.bytes()), y));
              }
            }
          }
          if (!points.isEmpty()) {
            polyline(operation.toString(), style, points.toString().strip());
            svg.append(marks);
          }
        });
    line("</g>");
  }

  private void grid(double fromX, double fromY, double toX, double toY) {
    line(
        "<path d=\"M%s %sL%s %s\" stroke=\"#D0D0D0\"/>",
        number(fromX), number(fromY), number(toX), number(toY));
  }

  private void polyline(String name, Style style, String points) {
    if (style.colour.equals("#F0E442")) {
      // Yellow needs an edge on white.
      line("<polyline points=\"%s\" fill=\"none\" stroke=\"#000000\" stroke-width=\"4\"/>", points);
    }
    line(
        "<polyline class=\"%s\" points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>",
        name, points, style.colour, style.dash);
  }

  private static String mark(Style style, double x, double y) {
    String shape =
        switch (style.mark) {
          case CIRCLE -> "<circle cx=\"%s\" cy=\"%s\" r=\"4\"".formatted(number(x), number(y));
          case SQUARE ->
              "<rect x=\"%s\" y=\"%s\" width=\"8\" height=\"8\""
                  .formatted(number(x - 4), number(y - 4));
          case TRIANGLE -> path(x, y - 5, x + 5, y + 4, x - 5, y + 4);
          case DIAMOND -> path(x, y - 6, x + 5, y, x, y + 6, x - 5, y);
        };
    return "%s fill=\"%s\" stroke=\"#000000\" stroke-width=\"0.7\"/>%n"
        .formatted(shape, style.colour);
  }

  private static String path(double... coordinates) {
    StringBuilder path = new StringBuilder("<path d=\"");
    for (int i = 0; i < coordinates.length; i += 2) {
      path.append(i == 0 ? 'M' : 'L').append(number(coordinates[i]));
      path.append(' ').append(number(coordinates[i + 1]));
    }
    return path.append("Z\"").toString();
  }

  private void legend() {
    int y = FIRST_TOP + 10;
    for (Operation.Kind operation : lines.keySet()) {
      Style style = style(operation);
      line("<g>");
      double from = RIGHT + 20.0;
      double to = RIGHT + 65.0;
      polyline("legend", style, (point(from, y) + point(to, y)).strip());
      if (operation != Operation.Kind.BARRIER) {
        svg.append(mark(style, (from + to) / 2, y));
      }
      text(to + 8, y + 4, "start", escaped(operation.toString()));
      line("</g>");
      y += 24;
    }
  }

  private double x(double bytes) {
    return LEFT + (RIGHT - LEFT) * (log2(bytes) - leastPower) / (mostPower - leastPower);
  }

  private static double y(double value, int least, int most, int top) {
    return top + PANEL_HEIGHT * (most - Math.log10(value)) / (most - least);
  }

  private static String point(double x, double y) {
    return number(x) + "," + number(y) + " ";
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  /** A power of ten, without an exponent. */
  private static String decimal(int power) {
    return power < 0
        ? String.format(Locale.ROOT, "%." + -power + "f", Math.pow(10, power))
        : String.format(Locale.ROOT, "%.0f", Math.pow(10, power));
  }

  private static String size(int power) {
    return power < 0
        ? "0"
        : (1 << power % 10) + new String[] {"", "K", "M", "G", "T", "P"}[power / 10];
  }

  private static String escaped(String text) {
    return text.replaceAll("\\p{Cntrl}", " ")
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;");
  }
}
