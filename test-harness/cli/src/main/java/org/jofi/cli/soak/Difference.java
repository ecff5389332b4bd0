package org.jofi.cli.soak;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The first thing that did not hold.
 *
 * @param what it is
 * @param rank of which rank
 * @param generation in which generation
 * @param round in which of its rounds
 * @param seconds when, since the beginning
 * @param faults what was wrong then or shortly before: each names its rail and rank
 * @param railsDown what that rank said last of rails that it did not use, with the reason
 */
public record Difference(
    String what,
    int rank,
    int generation,
    int round,
    double seconds,
    List<String> faults,
    Map<Integer, String> railsDown) {

  /**
   * What does not hold now.
   *
   * @param beganAt when the run began
   */
  static Difference of(
      RankHandle rank, int generation, String what, long beganAt, FaultInjector injector) {
    return new Difference(
        what,
        rank.rank(),
        generation,
        rank.last().round(),
        (System.nanoTime() - beganAt) / 1e9,
        injector.around(),
        rank.railsDown());
  }

  /** For a result in JSON. */
  public Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("what", what);
    fields.put("rank", rank);
    fields.put("generation", generation);
    fields.put("round", round);
    fields.put("seconds", seconds);
    fields.put("faults", faults);
    fields.put("railsDown", railsDown);
    return fields;
  }

  @Override
  public String toString() {
    StringBuilder text =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                "rank %d, generation %d, round %d, after %.1f s: %s",
                rank,
                generation,
                round,
                seconds,
                what));
    text.append("\nfaults then: ")
        .append(faults.isEmpty() ? "none" : String.join("; ", faults))
        .append("\nrails that it did not use: ");
    if (railsDown.isEmpty()) {
      return text.append("none").toString();
    }
    railsDown.forEach(
        (rail, why) -> text.append("\n  rail ").append(rail).append(": ").append(why));
    return text.toString();
  }
}
