package org.jofi.conformance;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jofi.conformance.rule.Area;

/**
 * What came of a run.
 *
 * @param description what was examined
 * @param results one for each case, in the order of the cases
 * @param nanos how long the run took
 */
public record Report(Description description, List<Result> results, long nanos) {

  /**
   * What was examined, in words.
   *
   * @param subject such as {@code shm}
   * @param source whose provider it is, such as {@code libfabric 1.17}
   * @param nic provider, fabric and domain
   * @param claims how it was negotiated
   */
  public record Description(String subject, String source, String nic, String claims) {}

  /** How many cases of an area ended how. */
  public record Count(int kept, int broken, int notClaimed) {
    private Count plus(Verdict verdict) {
      return switch (verdict) {
        case KEPT -> new Count(kept + 1, broken, notClaimed);
        case BROKEN -> new Count(kept, broken + 1, notClaimed);
        case NOT_CLAIMED -> new Count(kept, broken, notClaimed + 1);
      };
    }
  }

  public Report {
    results = List.copyOf(results);
  }

  /** Counts by area, in the order of {@link Area}; areas without a case are left out. */
  public Map<Area, Count> byArea() {
    Map<Area, Count> counts = new EnumMap<>(Area.class);
    for (Result result : results) {
      Area area = result.kase().area();
      counts.put(area, counts.getOrDefault(area, new Count(0, 0, 0)).plus(result.verdict()));
    }
    return counts;
  }

  /** All of them. */
  public Count total() {
    Count total = new Count(0, 0, 0);
    for (Result result : results) {
      total = total.plus(result.verdict());
    }
    return total;
  }

  /** Those that ended so. */
  public List<Result> with(Verdict verdict) {
    List<Result> some = new ArrayList<>();
    for (Result result : results) {
      if (result.verdict() == verdict) {
        some.add(result);
      }
    }
    return some;
  }
}
