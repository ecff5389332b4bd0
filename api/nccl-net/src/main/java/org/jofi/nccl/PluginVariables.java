package org.jofi.nccl;

import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** The names of environment variables, of which a misspelt one would otherwise be ignored. */
final class PluginVariables {
  private PluginVariables() {}

  /** A sentence for each variable that looks like one of this project's, and is none. */
  static List<String> unknown(Map<String, String> environment) {
    List<String> known = Variable.titles();
    return new TreeSet<>(environment.keySet())
        .stream()
            .filter(name -> Variable.isOurs(name) && !known.contains(name))
            .map(
                name ->
                    "%s is no variable that is known, and is ignored; the nearest is %s"
                        .formatted(name, nearest(name, known)))
            .toList();
  }

  private static String nearest(String name, List<String> known) {
    return known.stream()
        .min((one, other) -> Integer.compare(distance(name, one), distance(name, other)))
        .orElseThrow();
  }

  /** How many letters to add, leave out or change to make one of the other. */
  static int distance(String one, String other) {
    int[] above = new int[other.length() + 1];
    for (int j = 0; j <= other.length(); j++) {
      above[j] = j;
    }
    for (int i = 1; i <= one.length(); i++) {
      int[] row = new int[other.length() + 1];
      row[0] = i;
      for (int j = 1; j <= other.length(); j++) {
        int changed = above[j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(changed, 1 + Math.min(above[j], row[j - 1]));
      }
      above = row;
    }
    return above[other.length()];
  }
}
