package org.jofi.cli;

import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.cli.ranks.Told;
import org.jofi.collectives.Group;
import org.jofi.ranks.RanksException;
import org.jofi.transport.RailStatus;

/**
 * How many data rails are used, of the connection that uses the fewest.
 *
 * @param up how many
 * @param rails how many there are
 * @param lost whether one was lost, rather than closed because a peer lost it
 * @param reason why not all; empty if all are
 */
record RailsUp(int up, int rails, boolean lost, String reason) {
  private static final Pattern TOLD =
      Pattern.compile("([0-9]{1,9}) ([0-9]{1,9}) (true|false) (.*)", Pattern.DOTALL);

  /** Of the ring of all ranks; all of them call this. */
  static RailsUp ofAll(RingLinks links) {
    return ofAll(links, Stream.of(links.toNext().rails(), links.fromPrevious().rails()));
  }

  /** Of the connections of a group of all ranks; all of them call this. */
  static RailsUp ofAll(RingLinks links, Group group) {
    if (group.size() == 1) {
      return ofAll(links);
    }
    return ofAll(
        links,
        IntStream.range(0, group.size())
            .boxed()
            .flatMap(peer -> Stream.of(group.railsTo(peer), group.railsFrom(peer)))
            .filter(rails -> !rails.isEmpty()));
  }

  private static RailsUp ofAll(RingLinks links, Stream<List<RailStatus>> connections) {
    RailsUp own = fewest(connections.map(RailsUp::of));
    String text = "%d %d %b %s".formatted(own.up, own.rails, own.lost, own.reason);
    List<byte[]> all = links.gather(text.getBytes(StandardCharsets.UTF_8));
    return fewest(IntStream.range(0, all.size()).mapToObj(rank -> parse(rank, all.get(rank))));
  }

  /**
   * What another rank told.
   *
   * @throws RanksException if that is no such thing
   */
  static RailsUp parse(int rank, byte[] text) {
    Matcher told = TOLD.matcher(new String(text, StandardCharsets.UTF_8));
    if (!told.matches()) {
      throw Told.notUnderstood();
    }
    return new RailsUp(
        Integer.parseInt(told.group(1)),
        Integer.parseInt(told.group(2)),
        Boolean.parseBoolean(told.group(3)),
        told.group(4).isEmpty() ? "" : "rank " + rank + ": " + told.group(4));
  }

  /** Of several that say so, one that knows why. */
  private static RailsUp fewest(Stream<RailsUp> among) {
    return among
        .min(Comparator.comparingInt(RailsUp::up).thenComparing(rails -> !rails.lost))
        .orElseThrow();
  }

  private static RailsUp of(List<RailStatus> rails) {
    long up = rails.stream().filter(rail -> rail.state() == RailStatus.State.UP).count();
    return rails.stream()
        .filter(rail -> rail.state() != RailStatus.State.UP)
        .map(
            rail ->
                new RailsUp(
                    (int) up,
                    rails.size(),
                    rail.state() != RailStatus.State.REOPENING,
                    rail.cause().map(Object::toString).orElse(rail.nic() + " is not used")))
        .min(Comparator.comparing(rail -> !rail.lost))
        .orElse(new RailsUp((int) up, rails.size(), false, ""));
  }

  /** Under {@code RAILS}. */
  @Override
  public String toString() {
    return up + "/" + rails;
  }

  /** For a result in JSON. */
  void describe(Map<String, Object> fields) {
    fields.put("railsUp", up);
    fields.put("railsDownBecause", reason);
  }

  /** A column of tables, if there are several rails; under a row, why they are fewer now. */
  static final class Column {
    private final RankReport report;
    private final boolean isShown;
    private String told = "";

    /**
     * @param rails of the device
     */
    Column(RankReport report, int rails) {
      this.report = report;
      isShown = rails > 1;
    }

    /** After the other columns' names. */
    void header() {
      report.text(isShown ? " %8s%n" : "%n", "RAILS");
    }

    /** After the other columns. */
    void row(RailsUp rails) {
      report.text(isShown ? " %8s%n" : "%n", rails);
      if (!rails.reason.isEmpty() && !rails.reason.equals(told)) {
        report.text("%s%n", rails.reason);
      }
      told = rails.reason;
    }
  }
}
