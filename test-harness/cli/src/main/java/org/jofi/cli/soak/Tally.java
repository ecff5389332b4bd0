package org.jofi.cli.soak;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What was done. For one thread. */
public final class Tally {
  private final Map<RoundKind, Long> rounds = new EnumMap<>(RoundKind.class);
  private final Map<String, Long> endings = new TreeMap<>();
  private long bytes;
  private int generations;
  private int aborted;
  private double longestRoundSeconds;
  private String longestRound = "none";

  Tally() {}

  /** A rank checked a round. */
  void checked(String kind, long checkedBytes, boolean counts) {
    bytes += checkedBytes;
    if (counts) {
      for (RoundKind each : RoundKind.values()) {
        if (each.text().equals(kind)) {
          rounds.merge(each, 1L, Long::sum);
        }
      }
    }
  }

  /** How long a round of a rank took, and which it was. */
  void took(double seconds, String round) {
    if (seconds > longestRoundSeconds) {
      longestRoundSeconds = seconds;
      longestRound = round;
    }
  }

  /** A generation is over. */
  void generation(boolean wasAborted) {
    generations++;
    aborted += wasAborted ? 1 : 0;
  }

  /** How a request to a rank that was killed ended. */
  void ending(String cause) {
    endings.merge(cause, 1L, Long::sum);
  }

  long rounds() {
    return rounds.values().stream().mapToLong(Long::longValue).sum();
  }

  /** For people. */
  String text() {
    return String.format(
        Locale.ROOT,
        "%d generations, %d of them aborted; %d rounds: %s%n"
            + "%.1f GB checked; the longest round took %.1f s: %s%n"
            + "requests to ranks that were killed ended with: %s%n",
        generations,
        aborted,
        rounds(),
        rounds.entrySet().stream()
            .map(each -> each.getKey().text() + " " + each.getValue())
            .collect(Collectors.joining(", ")),
        bytes / 1e9,
        longestRoundSeconds,
        longestRound,
        endings.isEmpty() ? "none was there" : endings);
  }

  /** For a result in JSON. */
  Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    Map<String, Long> byKind = new LinkedHashMap<>();
    rounds.forEach((kind, count) -> byKind.put(kind.text(), count));
    fields.put("generations", generations);
    fields.put("generationsAborted", aborted);
    fields.put("rounds", rounds());
    fields.put("roundsByKind", byKind);
    fields.put("bytesChecked", bytes);
    fields.put("longestRoundSeconds", longestRoundSeconds);
    fields.put("longestRound", longestRound);
    fields.put("requestsToKilledRanks", endings);
    return fields;
  }
}
