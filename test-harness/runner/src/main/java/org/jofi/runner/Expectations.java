package org.jofi.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** How long a class is expected to take: as long as last time, or its share of the budget. */
final class Expectations {
  private final Path file;
  private final Budgets budgets;
  private final Map<String, Double> seconds = new HashMap<>();

  private Expectations(Path file, Budgets budgets) {
    this.file = file;
    this.budgets = budgets;
  }

  /** Reads what an earlier run wrote, if there was one. */
  static Expectations read(Path file, Budgets budgets) throws IOException {
    Expectations expectations = new Expectations(file, budgets);
    if (Files.exists(file)) {
      for (String line : Files.readAllLines(file)) {
        String[] words = line.split(" ", -1);
        expectations.seconds.put(words[0], Double.parseDouble(words[1]));
      }
    }
    return expectations;
  }

  double seconds(Lanes.Next next) {
    Pass pass = next.pass();
    return seconds(pass.key(), next.type().name(), pass.classes().size());
  }

  /** How long a class of a pass takes that has so many. */
  double seconds(String pass, String type, int classes) {
    Double known = seconds.get(key(pass, type));
    return known != null ? known : budgets.of(pass) / Math.max(1, classes);
  }

  /** Notes what classes took, for the next run. */
  void write(List<PassResult> results) throws IOException {
    for (PassResult result : results) {
      Map<String, Double> sums = new HashMap<>();
      for (PassResult.Timed one : result.classes) {
        sums.merge(key(result.pass.key(), one.name()), one.nanos() / 1e9, Double::sum);
      }
      seconds.putAll(sums);
    }
    Files.write(
        file,
        seconds.entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(entry -> String.format(Locale.ROOT, "%s %.2f", entry.getKey(), entry.getValue()))
            .toList());
  }

  private static String key(String pass, String type) {
    return pass + ":" + type;
  }
}
