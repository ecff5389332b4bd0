package org.jofi.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** How much processor time each pass may take, in s: a file with a line for each. */
final class Budgets {
  /** How much more than its budget a pass may take. */
  private static final double TOLERANCE = 1.2;

  /** What no pass fails for, in s: short ones are all start. */
  private static final double SLACK = 5;

  /** How many passes have to tell the machine's speed for it to count. */
  private static final int LEAST_PASSES = 5;

  private static final int SLOWEST = 5;

  private final Map<String, Double> seconds;

  private Budgets(Map<String, Double> seconds) {
    this.seconds = seconds;
  }

  /**
   * Reads them: a pass's name, its seconds in the short run, and in the full run.
   *
   * @throws IOException if there is no such file
   */
  static Budgets read(Path file, boolean full) throws IOException {
    Map<String, Double> seconds = new HashMap<>();
    for (String line : Files.readAllLines(file)) {
      String[] words = line.replaceFirst("#.*", "").strip().split("\\s+", -1);
      if (words.length == 3) {
        seconds.put(words[0], Double.parseDouble(words[full ? 2 : 1]));
      }
    }
    return new Budgets(seconds);
  }

  /** The budget of a pass, or 0 if it has none. */
  double of(String pass) {
    return seconds.getOrDefault(pass, 0.0);
  }

  /**
   * What a machine takes for each second of the budgets: the median of the passes', as machines
   * differ, and one changes from hour to hour. Never below 1.
   */
  double pace(List<PassResult> results) {
    double[] ratios =
        results.stream()
            .filter(result -> of(result.pass.key()) > SLACK)
            .mapToDouble(result -> seconds(result) / of(result.pass.key()))
            .sorted()
            .toArray();
    return ratios.length < LEAST_PASSES ? 1 : Math.max(1, ratios[ratios.length / 2]);
  }

  /** Says in a line which passes took too much, and by which classes; nothing if none did. */
  List<String> exceeded(List<PassResult> results) {
    double pace = pace(results);
    return results.stream()
        .filter(
            result ->
                seconds(result)
                    > Math.max(of(result.pass.key()) * TOLERANCE, of(result.pass.key()) + SLACK)
                        * pace)
        .map(result -> exceeded(result, pace))
        .toList();
  }

  private String exceeded(PassResult result, double pace) {
    StringBuilder line = new StringBuilder();
    line.append(
        "%s took %.0f s of processor time, its budget is %.0f"
            .formatted(result.pass.name(), seconds(result), of(result.pass.key())));
    if (pace > 1) {
      line.append(String.format(Locale.ROOT, " (times %.2f, this machine's pace)", pace));
    }
    line.append(". Slowest:");
    result.classes.stream()
        .sorted(Comparator.comparingLong(PassResult.Timed::processorNanos).reversed())
        .limit(SLOWEST)
        .forEach(
            one ->
                line.append(
                    String.format(
                        Locale.ROOT,
                        " %s %.1f s",
                        one.name().substring(one.name().lastIndexOf('.') + 1),
                        one.processorNanos() / 1e9)));
    return line.toString();
  }

  private static double seconds(PassResult result) {
    return result.processorNanos() / 1e9;
  }
}
