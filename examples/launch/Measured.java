package launch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * What one round took.
 *
 * @param program which program
 * @param provider what the sums went over: a provider's name, tcp for a star, none for one rank
 * @param ranks how many
 * @param way how arrays are summed
 * @param round counted from 1
 * @param millis of a step or a token
 * @param waitedMillis of these, how long the rank waited for sums
 * @param summedMillis how long sums were under way, also while the rank calculated
 */
public record Measured(
    String program,
    String provider,
    int ranks,
    String way,
    int round,
    double millis,
    double waitedMillis,
    double summedMillis) {
  private static final String MARK = "measured";

  /** {@return it as a line} */
  public String line() {
    return String.format(
        Locale.ROOT,
        "%s %s %s %d %s %d %.4f %.4f %.4f",
        MARK,
        program,
        provider,
        ranks,
        way,
        round,
        millis,
        waitedMillis,
        summedMillis);
  }

  /** {@return what such a line says; empty if it says something else} */
  public static Optional<Measured> of(String line) {
    String[] words = line.strip().split(" +");
    if (words.length != 9 || !words[0].equals(MARK)) {
      return Optional.empty();
    }
    return Optional.of(
        new Measured(
            words[1],
            words[2],
            Integer.parseInt(words[3]),
            words[4],
            Integer.parseInt(words[5]),
            Double.parseDouble(words[6]),
            Double.parseDouble(words[7]),
            Double.parseDouble(words[8])));
  }

  /** {@return what sums go over} */
  public static String over(String way, String provider) {
    return way.startsWith("star-") ? "tcp" : provider;
  }

  /** {@return the part of the time in which the rank waited} */
  public double waitedShare() {
    return waitedMillis / millis;
  }

  /** {@return the rounds of each way, in the order in which they were measured} */
  public static Collection<List<Measured>> byWay(List<Measured> all) {
    Map<String, List<Measured>> rounds = new LinkedHashMap<>();
    for (Measured each : all) {
      String key = "%s %s %d %s".formatted(each.program, each.provider, each.ranks, each.way);
      rounds.computeIfAbsent(key, none -> new ArrayList<>()).add(each);
    }
    return rounds.values();
  }

  /** {@return the median of something over rounds; of an even number the lower one} */
  public static double median(List<Measured> rounds, ToDoubleFunction<Measured> of) {
    double[] sorted = rounds.stream().mapToDouble(of).sorted().toArray();
    return sorted[(sorted.length - 1) / 2];
  }

  /** {@return lines for people: a head, and the medians of each way} */
  public static List<String> table(List<Measured> all, String unit, ToDoubleFunction<Measured> figure) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "%-8s %5s  %-12s %12s %19s %9s %14s"
            .formatted("provider", "ranks", "sums by", unit, "(least - most)", "waiting", "sums take ms"));
    for (List<Measured> rounds : byWay(all)) {
      Measured one = rounds.getFirst();
      double[] figures = rounds.stream().mapToDouble(figure).sorted().toArray();
      lines.add(
          String.format(
              Locale.ROOT,
              "%-8s %5d  %-12s %12.1f %19s %8.1f%% %14.2f",
              one.provider,
              one.ranks,
              one.way,
              median(rounds, figure),
              String.format(Locale.ROOT, "(%.1f - %.1f)", figures[0], figures[figures.length - 1]),
              100 * median(rounds, Measured::waitedShare),
              median(rounds, Measured::summedMillis)));
    }
    return lines;
  }

  /** {@return a number for the bits of floats, to compare those of ranks and runs} */
  public static int bits(float[] of) {
    int[] bits = new int[of.length];
    Arrays.setAll(bits, i -> Float.floatToRawIntBits(of[i]));
    return Arrays.hashCode(bits);
  }
}
