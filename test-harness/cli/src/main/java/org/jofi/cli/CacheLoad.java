package org.jofi.cli;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jofi.transport.CacheStatistics;

/** What a rank's registration cache did in a run. */
record CacheLoad(CacheStatistics statistics) {

  Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("hits", statistics.hits());
    fields.put("misses", statistics.misses());
    fields.put("evictions", statistics.evictions());
    fields.put("registrations", statistics.registrations());
    fields.put("pinnedBytes", statistics.pinnedBytes());
    fields.put("registeringNanos", statistics.registeringNanos());
    return fields;
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "registration cache: %d hits; %d registered, which took %.1f ms; %d evicted; %d open with %s",
        statistics.hits(),
        statistics.misses(),
        statistics.registeringNanos() / 1e6,
        statistics.evictions(),
        statistics.registrations(),
        ByteSizes.format(statistics.pinnedBytes()));
  }
}
