package org.jofi.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** How much processor time each pass may take, in s: a file with a line for each. */
final class Budgets {
  /** How much more than its budget a pass may take before it is told. */
  private static final double TOLD = 1.2;

  /**
   * And before the run fails. What another machine makes of a pass depends on how many processes,
   * page faults and system calls it is made of, and on what runs beside it: of the same code,
   * machines took 0.9 to 1.8 of the budgets where all passes together took 1.07 and 1.2 of them.
   */
  private static final double FAILS = 2;

  /** What no pass fails for, in s: short ones are all start. */
  private static final double SLACK = 5;

  /** How many other passes have to tell the machine's speed for it to count. */
  private static final int LEAST_PASSES = 4;

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
   * What this machine takes for each second of the budgets, as passes other than this one tell: all
   * together, or the median of them, if that is more. Never below 1.
   */
  private double pace(List<PassResult> results, PassResult apartFrom) {
    List<PassResult> others =
        results.stream()
            .filter(result -> result != apartFrom && of(result.pass.key()) > SLACK)
            .toList();
    if (others.size() < LEAST_PASSES) {
      return 1;
    }
    double taken = others.stream().mapToDouble(Budgets::seconds).sum();
    double budget = others.stream().mapToDouble(result -> of(result.pass.key())).sum();
    double[] ratios =
        others.stream()
            .mapToDouble(result -> seconds(result) / of(result.pass.key()))
            .sorted()
            .toArray();
    return Math.max(1, Math.max(taken / budget, ratios[ratios.length / 2]));
  }

  /** Says in a line which passes took more than they should, and by which classes. */
  List<String> exceeded(List<PassResult> results) {
    return exceeded(results, TOLD).map(result -> describe(result, pace(results, result))).toList();
  }

  /** Whether a pass took so much that no machine accounts for it. */
  boolean fail(List<PassResult> results) {
    return exceeded(results, FAILS).findAny().isPresent();
  }

  private Stream<PassResult> exceeded(List<PassResult> results, double tolerance) {
    return results.stream()
        .filter(
            result -> {
              double budget = of(result.pass.key());
              return seconds(result)
                  > Math.max(budget * tolerance, budget + SLACK) * pace(results, result);
            });
  }

  private String describe(PassResult result, double pace) {
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
