package org.jofi.cli.soak;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How a process was at the start and is at the end.
 *
 * @param rank which rank
 * @param rows each a figure
 */
public record Growth(int rank, List<Row> rows) {
  private static final long MEBI = 1 << 20;

  /**
   * Java objects of 5 minutes: classes that were loaded late, and what the JVM itself keeps. A leak
   * of one object per message would be more.
   */
  static final long HEAP_BYTES = 4 * MEBI;

  /**
   * Code that the JIT compiler makes late, the collector's own tables, and what malloc keeps. The
   * Java heap is resident from the start on. A leak of one message of 4 MiB per generation would be
   * more.
   */
  static final long RESIDENT_BYTES = 48 * MEBI;

  /**
   * What a provider takes for an endpoint with its first connection, of which a rail has two: one
   * may come as late as a rank that is started again. Over verbs;ofi_rxm it is 17 MiB.
   */
  static final long RAIL_BYTES = 2 * 17 * MEBI;

  /**
   * A figure.
   *
   * @param name of what
   * @param start how much at the start
   * @param end how much at the end
   * @param most how much it may be at the end
   * @param least how little it may be at the end
   */
  public record Row(String name, long start, long end, long least, long most) {
    boolean holds() {
      return end >= least && end <= most;
    }

    @Override
    public String toString() {
      return least == most
          ? "%s: %d at the start, %d at the end, and should be the same".formatted(name, start, end)
          : "%s: %d at the start, %d at the end, %d at most are right"
              .formatted(name, start, end, most);
    }
  }

  /**
   * Compares.
   *
   * @param peers how many other ranks there are
   * @param rails how many rails there are
   */
  static Growth of(int rank, Vitals start, Vitals end, int peers, int rails) {
    List<Row> rows = new ArrayList<>();
    rows.add(same("descriptors, without sockets", start.files(), end.files()));
    // A provider connects to each peer over each rail when it first has something to say there, and
    // when both sides begin at once there are two. Which of them are open depends on who spoke
    // first
    // after a fault. Those to processes that are dead must not add up.
    long sockets = 2L * peers * rails;
    rows.add(new Row("sockets", start.sockets(), end.sockets(), 0, start.sockets() + sockets));
    rows.add(same("threads", start.threads(), end.threads()));
    rows.add(same("pinned or locked bytes", start.pinnedBytes(), end.pinnedBytes()));
    rows.add(same("registrations", start.registrations(), end.registrations()));
    rows.add(same("registered bytes", start.registeredBytes(), end.registeredBytes()));
    rows.add(
        new Row(
            "heap bytes", start.heapBytes(), end.heapBytes(), 0, start.heapBytes() + HEAP_BYTES));
    rows.add(
        new Row(
            "resident bytes",
            start.residentBytes(),
            end.residentBytes(),
            0,
            start.residentBytes() + RESIDENT_BYTES + rails * RAIL_BYTES));
    return new Growth(rank, List.copyOf(rows));
  }

  private static Row same(String name, long start, long end) {
    return new Row(name, start, end, start, start);
  }

  /** The first figure that does not hold. */
  Optional<Row> firstDifference() {
    return rows.stream().filter(row -> !row.holds()).findFirst();
  }

  /** For a result in JSON. */
  public Map<String, Object> fields() {
    Map<String, Object> figures = new LinkedHashMap<>();
    for (Row row : rows) {
      Map<String, Object> figure = new LinkedHashMap<>();
      figure.put("start", row.start);
      figure.put("end", row.end);
      figure.put("least", row.least);
      figure.put("most", row.most);
      figures.put(row.name, figure);
    }
    return figures;
  }
}
