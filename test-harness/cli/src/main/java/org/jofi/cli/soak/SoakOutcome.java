package org.jofi.cli.soak;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * How a soak went.
 *
 * @param options what was asked for
 * @param device of the ranks, in words
 * @param seconds how long it took
 * @param done what was done
 * @param faults how many of each kind were injected
 * @param withheld how many were not, because no rail would have been left, or for similar reasons
 * @param history all that were injected
 * @param restarts how many times ranks were started again
 * @param railsUp how many rails were used at the end, by all; -1 if the end was not reached
 * @param growth of each rank, if the end was reached
 * @param difference the first thing that did not hold
 */
public record SoakOutcome(
    SoakOptions options,
    String device,
    double seconds,
    Tally done,
    Map<FaultKind, Integer> faults,
    int withheld,
    List<String> history,
    int restarts,
    int railsUp,
    List<Growth> growth,
    Optional<Difference> difference) {

  /** For a result in JSON. */
  public Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("seed", options.seed());
    fields.put("ranks", options.ranks());
    fields.put("rails", options.rails());
    fields.put("device", device);
    fields.put("minutes", options.length().toMillis() / 60e3);
    fields.put("seconds", seconds);
    fields.putAll(done.fields());
    Map<String, Integer> counts = new LinkedHashMap<>();
    faults.forEach((kind, count) -> counts.put(kind.text(), count));
    fields.put("faultKinds", options.faults().stream().map(FaultKind::text).toList());
    fields.put("faults", counts);
    fields.put("faultsWithheld", withheld);
    fields.put("faultHistory", history);
    fields.put("restarts", restarts);
    fields.put("railsUp", railsUp);
    Map<String, Object> growths = new LinkedHashMap<>();
    growth.forEach(each -> growths.put("rank " + each.rank(), each.fields()));
    fields.put("growth", growths);
    fields.put("difference", difference.map(Difference::fields).orElse(null));
    return fields;
  }

  /** For people. */
  public String text() {
    StringBuilder text = new StringBuilder(done.text());
    line(text, "%.0f s in all", seconds);
    line(
        text,
        "faults: %s; %d withheld; %d ranks started again",
        faults.isEmpty()
            ? "none"
            : faults.entrySet().stream()
                .map(each -> each.getKey().text() + " " + each.getValue())
                .collect(Collectors.joining(", ")),
        withheld,
        restarts);
    if (railsUp >= 0) {
      line(text, "RAILS %d/%d at the end", railsUp, options.rails());
    }
    for (Growth each : growth) {
      line(text, "%nrank %d %-28s %14s %14s %14s", each.rank(), "", "START", "END", "AT MOST");
      for (Growth.Row row : each.rows()) {
        line(
            text,
            "  %-33s %14d %14d %14d%s",
            row.name(),
            row.start(),
            row.end(),
            row.most(),
            row.holds() ? "" : "  WRONG");
      }
    }
    return text.toString();
  }

  @SuppressWarnings("AnnotateFormatMethod") // The annotation would be a dependency of its own.
  private static void line(StringBuilder text, String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
