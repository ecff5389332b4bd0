package org.jofi.collectives.schedule;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Which step wrote each element of a memory last, and which read it since. */
final class Uses {
  private static final int NOBODY = -1;

  /** By first element, ranges that do not overlap; what is in none was never used. */
  private final TreeMap<Long, Range> ranges = new TreeMap<>();

  private static final class Range {
    private final long end;
    private final int writer;
    private final List<Integer> readers;

    Range(long end, int writer, List<Integer> readers) {
      this.end = end;
      this.writer = writer;
      this.readers = readers;
    }
  }

  /** A step reads elements: it waits for who wrote them. */
  void read(long from, long count, int step, Set<Integer> needs) {
    long end = from + count;
    cut(from);
    cut(end);
    long at = from;
    for (Map.Entry<Long, Range> each : List.copyOf(ranges.subMap(from, end).entrySet())) {
      fill(at, each.getKey(), step);
      Range range = each.getValue();
      if (range.writer != NOBODY) {
        needs.add(range.writer);
      }
      range.readers.add(step);
      at = range.end;
    }
    fill(at, end, step);
  }

  /** A step writes elements: it waits for who wrote and who read them. */
  void write(long from, long count, int step, Set<Integer> needs) {
    long end = from + count;
    cut(from);
    cut(end);
    Map<Long, Range> over = ranges.subMap(from, end);
    for (Range range : over.values()) {
      if (range.writer != NOBODY) {
        needs.add(range.writer);
      }
      needs.addAll(range.readers);
    }
    over.clear();
    ranges.put(from, new Range(end, step, new ArrayList<>()));
  }

  /** Elements that nobody used before are read. */
  private void fill(long from, long end, int step) {
    if (from < end) {
      ranges.put(from, new Range(end, NOBODY, new ArrayList<>(List.of(step))));
    }
  }

  /** Makes an element the first of its range. */
  private void cut(long at) {
    Map.Entry<Long, Range> before = ranges.lowerEntry(at);
    if (before != null && before.getValue().end > at) {
      Range range = before.getValue();
      ranges.put(before.getKey(), new Range(at, range.writer, range.readers));
      ranges.put(at, new Range(range.end, range.writer, new ArrayList<>(range.readers)));
    }
  }
}
